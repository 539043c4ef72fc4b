"""A kernel of Triton beside PyTorch's own: two variants of one workload."""

import perfgate
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(x + at, inside) + tl.load(y + at, inside), inside)


@perfgate.workload(n=[2**20, 2**24], dtype=["f16", "f32"], variants=["triton", "torch"])
def add(n, dtype, seed, variant):
    """The sum of two vectors."""
    x, y = (perfgate.uniform(n, dtype, seed + i) for i in (0, 1))
    out = torch.empty_like(x)

    def launch():
        if variant == "torch":
            torch.add(x, y, out=out)
        else:
            add_kernel[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)

    return perfgate.Case(launch, outputs=[out], reference=lambda: x.double() + y.double(),
                         rtol=1e-3, bytes=3 * x.nbytes)
