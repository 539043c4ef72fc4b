# SPDX-License-Identifier: Apache-2.0
"""Decodes greedily with a cache of keys and values, as a language model does: each token is an NVTX range `token`."""

import argparse

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention, silu

WIDTH, HEADS, LAYERS, WORDS, BATCH, TOKENS = 2048, 16, 12, 32000, 8, 200

parser = argparse.ArgumentParser()
parser.add_argument("--inner", type=int, default=4, help="width of the feed-forward layers, in units of the model's")
parser.add_argument("--dtype", default="bfloat16")
parser.add_argument("--item", action="store_true", help="ask after each token whether it is the last")
parser.add_argument("--eager", action="store_true", help="attention of several operations")
options = parser.parse_args()


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, options.inner * WIDTH, bias=False)
        self.down = nn.Linear(options.inner * WIDTH, WIDTH, bias=False)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(BATCH, HEADS, TOKENS, WIDTH // HEADS))

    def attend(self, query, mask):
        if not options.eager:
            return scaled_dot_product_attention(query, self.keys, self.values, mask)
        scores = query @ self.keys.mT / (WIDTH // HEADS) ** 0.5 + mask
        return torch.softmax(scores.float(), -1).to(query.dtype) @ self.values

    def forward(self, x, position, mask):
        query, key, value = self.qkv(self.first(x)).view(BATCH, 1, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        self.keys.index_copy_(2, position, key)
        self.values.index_copy_(2, position, value)
        x = x + self.out(self.attend(query, mask).transpose(1, 2).reshape(BATCH, 1, WIDTH))
        return x + self.down(silu(self.up(self.second(x))))


@torch.no_grad()
def main():
    torch.manual_seed(1)
    dtype = getattr(torch, options.dtype)
    with torch.device("cuda"):
        words = nn.Embedding(WORDS, WIDTH).to(dtype)
        layers = [Layer().to(dtype) for _ in range(LAYERS)]
    masks = torch.full((TOKENS, TOKENS), float("-inf"), device="cuda", dtype=dtype).triu(1)
    token, position = torch.zeros(BATCH, 1, dtype=torch.long, device="cuda"), torch.zeros(1, dtype=torch.long, device="cuda")
    for _ in range(TOKENS):
        with torch.cuda.nvtx.range("token"):
            x, mask = words(token), masks.index_select(0, position).view(1, 1, 1, TOKENS)
            for layer in layers:
                x = layer(x, position, mask)
            token = (x @ words.weight.T).argmax(-1)
            position += 1
            if options.item and token[0].item() == WORDS:
                break
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
