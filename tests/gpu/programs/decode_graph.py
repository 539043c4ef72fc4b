# SPDX-License-Identifier: Apache-2.0
"""The decode loop's short kernels as a CUDA graph, replayed in an NVTX range for each step."""

import torch

import common

chosen = common.options(steps=50)
torch.manual_seed(1)
WIDTH, LAYERS = 1024, 8
weights = [torch.randn(WIDTH, WIDTH, device="cuda", dtype=torch.float16) / 32
           for _ in range(LAYERS)]
state = torch.randn(1, WIDTH, device="cuda", dtype=torch.float16)


@torch.no_grad()
def decode():
    x = state
    for weight in weights:
        x = torch.nn.functional.layer_norm(torch.nn.functional.gelu(x @ weight), (WIDTH,))


side = torch.cuda.Stream()
with torch.cuda.stream(side):
    decode()
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    decode()


def step():
    graph.replay()


common.measure(step, chosen, warm_up=20)
