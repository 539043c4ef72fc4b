# SPDX-License-Identifier: Apache-2.0
"""Short kernels one after the other, as a language model's decoder launches them."""

import torch

import common

chosen = common.options(steps=300)
torch.manual_seed(1)
WIDTH, LAYERS = 1024, 8
weights = [torch.randn(WIDTH, WIDTH, device="cuda", dtype=torch.float16) / 32
           for _ in range(LAYERS)]
state = torch.randn(1, WIDTH, device="cuda", dtype=torch.float16)


@torch.no_grad()
def step():
    x = state
    for weight in weights:
        x = torch.nn.functional.layer_norm(torch.nn.functional.gelu(x @ weight), (WIDTH,))


common.measure(step, chosen, warm_up=300)
