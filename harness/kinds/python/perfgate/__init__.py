# SPDX-License-Identifier: Apache-2.0
"""Workloads in Python for perfgate: kernels of Triton, PyTorch, CuPy, Numba, JAX, or NumPy.

    import perfgate, torch

    @perfgate.workload(n=[2**20, 2**24], dtype=["f16", "f32"])
    def add(n, dtype, seed):
        x, y = (perfgate.uniform(n, dtype, seed + i) for i in (0, 1))
        out = torch.empty_like(x)
        return perfgate.Case(launch=lambda: torch.add(x, y, out=out), outputs=[out],
                             reference=lambda: x.double() + y.double(), rtol=1e-3,
                             bytes=3 * x.nbytes)

A suite names the file (`python: kernels.py`); perfgate measures in processes of the interpreter that
the suite names. Nothing is measured or judged in Python.
"""

from ._case import Case, Workload, workload
from ._inputs import uniform

__all__ = ["Case", "Workload", "uniform", "workload"]
