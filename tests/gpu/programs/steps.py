# SPDX-License-Identifier: Apache-2.0
"""Steps of a stated number of launches, as standard input asks: steps.py [host].

A line "LAUNCHES COUNT" is answered by the mean of the fastest nine tenths of so many steps, in ns. host: no GPU, a launch is some
arithmetic. The steps are 20 functions deep, and eight threads wait for work.
"""

import ctypes
import queue
import sys
import threading
import time

HOST = sys.argv[1:] == ["host"]
if HOST:
    ctypes.CDLL("libcuda.so.1").cuInit(0)
else:
    import torch

    value = torch.zeros(64, device="cuda")


def launch(times):
    if HOST:
        return sum(i * i for i in range(20 * times))
    for _ in range(times):
        value.add_(1)
    torch.cuda.synchronize()


def nested(depth, times):
    return nested(depth - 1, times) if depth else launch(times)


def main():
    work = queue.Queue()
    for _ in range(8):
        threading.Thread(target=work.get, daemon=True).start()
    launch(1)
    print("ready", flush=True)
    for line in sys.stdin:
        launches, count = map(int, line.split())
        times = []
        for _ in range(count):
            start = time.perf_counter_ns()
            nested(20, launches)
            times.append(time.perf_counter_ns() - start)
        kept = sorted(times)[: max(1, count * 9 // 10)]
        print(sum(kept) / len(kept), flush=True)


if __name__ == "__main__":
    main()
