# SPDX-License-Identifier: Apache-2.0
"""PyTorch's fused attention on the problems of this workload, measured as its variants are.

    perfgate run kernels/attention/pytorch.yaml

`flash` and `cudnn` are backends of scaled_dot_product_attention. Needs a GPU and PyTorch.
"""
import perfgate
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


@perfgate.workload(variants=["flash", "cudnn"], batch=[4], heads=[16], sequence=[1024, 4096, 8192],
                   head_size=[64, 128], causal=[False, True])
def pytorch_attention(batch, heads, sequence, head_size, causal, seed, variant):
    q, k, v = (perfgate.uniform((batch, heads, sequence, head_size), "bf16", 3 * seed + i) for i in range(3))
    scale = 6 / head_size**0.5  # problem.hpp

    def launch():
        with sdpa_kernel(BACKENDS[variant]):
            return scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)

    def reference():
        """In float64, some queries of a head at a time: scores of all would not fit."""
        o = torch.empty(q.shape, dtype=torch.float64, device=q.device)
        keys = torch.arange(sequence, device=q.device)
        for head in range(batch * heads):
            at = divmod(head, heads)
            k64, v64 = k[at].double(), v[at].double()
            for first in range(0, sequence, 2048):
                queries = slice(first, first + 2048)
                scores = q[at][queries].double() @ k64.T * scale
                if causal:
                    scores.masked_fill_(keys[queries, None] < keys, float("-inf"))
                o[at][queries] = scores.softmax(-1) @ v64
        return o

    pairs = sequence * (sequence + 1) / 2 if causal else sequence**2
    return perfgate.Case(launch=launch, reference=reference, rtol=2**-8, atol=2**-7,
                         flops=4 * batch * heads * pairs * head_size, bytes=4 * q.nbytes, arithmetic="bf16")
