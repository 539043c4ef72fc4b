"""A fused operation of PyTorch beside its eager form: two variants of one workload."""

import perfgate
import torch


def gated(x, bias):
    return torch.nn.functional.gelu(x + bias) * x


@perfgate.workload(n=[1024, 4096], dtype=["f16", "bf16"], variants=["eager", "compiled"])
def gelu(n, dtype, seed, variant):
    """GELU of a matrix with a bias, times the matrix."""
    x = perfgate.uniform((n, n), dtype, seed)
    bias = perfgate.uniform(n, dtype, seed + 1)
    function = torch.compile(gated) if variant == "compiled" else gated
    return perfgate.Case(launch=lambda: function(x, bias), reference=lambda: gated(x.double(), bias.double()),
                         rtol=2e-2, atol=2e-2, bytes=2 * x.nbytes + bias.nbytes)
