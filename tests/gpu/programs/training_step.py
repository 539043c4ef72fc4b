# SPDX-License-Identifier: Apache-2.0
"""A small transformer's training step: forward, backward and optimiser in NVTX ranges."""

import torch

import common

chosen = common.options(steps=10)
torch.manual_seed(1)
torch.backends.cuda.matmul.allow_tf32 = True
# A batch that keeps an H200 busy: what is launched takes longer than launching it, on a slow host too.
LAYERS, WIDTH, HEADS, BATCH, LENGTH, WORDS = 4, 1024, 16, 32, 512, 8192

# Built on the GPU: initialising the weights on the host takes seconds.
with torch.device("cuda"):
    layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0,
                                             batch_first=True, norm_first=True)
    model = torch.nn.Sequential(torch.nn.Embedding(WORDS, WIDTH),
                                torch.nn.TransformerEncoder(layer, LAYERS,
                                                            enable_nested_tensor=False),
                                torch.nn.Linear(WIDTH, WORDS))
optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
tokens = torch.randint(WORDS, (BATCH, LENGTH), device="cuda")
targets = torch.randint(WORDS, (BATCH, LENGTH), device="cuda")


def step():
    torch.cuda.nvtx.range_push("forward")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        logits = model(tokens)
        loss = torch.nn.functional.cross_entropy(logits.view(-1, WORDS), targets.view(-1))
    torch.cuda.nvtx.range_pop()
    torch.cuda.nvtx.range_push("backward")
    loss.backward()
    torch.cuda.nvtx.range_pop()
    torch.cuda.nvtx.range_push("optimiser")
    optimiser.step()
    optimiser.zero_grad(set_to_none=True)
    torch.cuda.nvtx.range_pop()


common.measure(step, chosen, warm_up=10)
