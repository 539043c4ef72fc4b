# SPDX-License-Identifier: Apache-2.0
"""Trains a small ResNet on images that the workers of a DataLoader make: NVTX ranges `data` and `step`. It
does without torch.optim, which imports what takes as long as torch itself."""

import argparse

import numpy
import torch
import torch.utils.data
from torch import nn

BATCH, SIZE, STEPS = 64, 160, 300

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=8)
parser.add_argument("--blocks", type=int, default=2, help="of each stage")
parser.add_argument("--dtype", default="bfloat16")
parser.add_argument("--item", action="store_true", help="read the loss after each step")
options = parser.parse_args()


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return STEPS * BATCH

    def __getitem__(self, index):
        random = numpy.random.default_rng(index)
        image = random.integers(0, 256, (3, SIZE + 32, SIZE + 32), dtype=numpy.uint8)
        top, left = random.integers(0, 32, 2)
        crop = image[:, top:top + SIZE, left:left + SIZE]
        return torch.from_numpy((crop.astype(numpy.float32) - 127.5) / 73), index % 100


class Block(nn.Module):
    def __init__(self, before, width, stride):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(before, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                                  nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))
        same = before == width and stride == 1
        self.shortcut = nn.Identity() if same else nn.Conv2d(before, width, 1, stride, bias=False)

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


def model():
    layers, before = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        for number in range(options.blocks):
            layers.append(Block(before, width, 1 if number else stride))
            before = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 100))


def main():
    torch.manual_seed(1)
    loader = iter(torch.utils.data.DataLoader(Images(), BATCH, num_workers=options.workers, pin_memory=True))
    network = model().cuda().to(memory_format=torch.channels_last)
    for _ in range(STEPS):
        with torch.cuda.nvtx.range("data"):
            images, targets = (each.cuda(non_blocking=True) for each in next(loader))
        with torch.cuda.nvtx.range("step"):
            with torch.autocast("cuda", getattr(torch, options.dtype), enabled=options.dtype != "float32"):
                loss = nn.functional.cross_entropy(network(images.contiguous(memory_format=torch.channels_last)), targets)
            loss.backward()
            with torch.no_grad():
                for parameter in network.parameters():
                    parameter.sub_(parameter.grad, alpha=0.01)
                    parameter.grad = None
            if options.item:
                loss.item()
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
