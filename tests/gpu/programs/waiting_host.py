# SPDX-License-Identifier: Apache-2.0
"""Training steps whose GPU waits for the host, for one planted reason: waiting_host.py CASE [STEPS]."""

import mmap
import os
import sys
import tempfile
import threading
import time

import torch
import torch.utils.data

CASE = sys.argv[1]
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 40


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 16 * STEPS

    def __getitem__(self, index):
        return decode(index)


def decode(index):
    end = time.perf_counter() + 0.002
    total = 0
    while time.perf_counter() < end:
        total += index
    return torch.full((256,), float(total % 7))


def tokenise(step):
    words = {}
    for i in range(150_000):
        words[i % 97] = words.get(i % 97, 0) + step
    return words


lock = threading.Lock()


def checkpoint(over):
    while not over.is_set():
        with lock:
            time.sleep(0.02)
        time.sleep(0.0001)


def take_turn():
    with lock:
        pass


def allocate():
    return torch.empty(192 << 20, dtype=torch.uint8).zero_()


def read_shard(file, buffer):
    os.lseek(file, 0, os.SEEK_SET)
    for _ in range(4):
        os.readv(file, [buffer])


def loader_of(workers):
    return iter(torch.utils.data.DataLoader(Images(), batch_size=16, num_workers=workers))


def shard():
    """A file that is read past the cache, where the file system can."""
    path = tempfile.NamedTemporaryFile(dir=os.environ.get("STUDY_DISK", "/var/tmp")).name
    with open(path, "wb") as file:
        file.write(os.urandom(1 << 20) * 64)
    flags = os.O_RDONLY | os.O_DIRECT
    try:
        return os.open(path, flags)
    except OSError:
        return os.open(path, os.O_RDONLY)
    finally:
        os.unlink(path)


def train():
    weight = torch.randn(2048, 2048, device="cuda")
    over = threading.Event()
    images = loader_of({"workers8": 8, "workers0": 0}[CASE]) if CASE.startswith("workers") else None
    if CASE == "lock":
        threading.Thread(target=checkpoint, args=(over,), name="checkpoint").start()
    file, buffer = (shard(), mmap.mmap(-1, 16 << 20)) if CASE == "disk" else (None, None)
    value = weight
    for step in range(STEPS):
        with torch.cuda.nvtx.range("data"):
            if images is not None:
                batch = next(images).cuda()
            elif CASE == "loop":
                tokenise(step)
            elif CASE == "lock":
                take_turn()
            elif CASE == "faults":
                allocate()
            elif CASE == "disk":
                read_shard(file, buffer)
        with torch.cuda.nvtx.range("step"):
            for _ in range(20 if CASE == "item" else 4):
                value = torch.tanh(value @ weight)
                if CASE == "item":
                    log_loss(value)
    over.set()
    torch.cuda.synchronize()


def log_loss(value):
    loss = value.mean()
    return loss.item()


if __name__ == "__main__":
    train()
