# SPDX-License-Identifier: Apache-2.0
"""Inputs that depend on a seed alone, as arrays of the library that the author uses."""

from __future__ import annotations

import sys
from typing import Any, Sequence, Union

from . import _arrays, _library

# Types by the libraries' names. Those that perfgate's library does not make are converted from f32.
_NUMPY = {"f64": "float64", "f32": "float32", "f16": "float16", "i64": "int64", "i32": "int32", "i16": "int16",
          "i8": "int8", "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8"}
_TORCH = {**{name: _NUMPY[name] for name in ("f64", "f32", "f16", "i64", "i32", "i16", "i8", "u8")},
          "bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}
_STANDARD = {"f64": "d", "f32": "f", "i64": "q", "i32": "i", "i16": "h", "i8": "b", "u8": "B"}
_AT_ONCE = 1 << 20


def uniform(shape: Union[int, Sequence[int]], dtype: str, seed: int, *, like: Any = None) -> Any:
    """An array of uniform values: multiples of 2^-23 in [-1, 1) of a floating-point type, 0 to 99 of an integer type.
    They are the same in every library.

    like: the module whose array this is (torch, cupy, jax.numpy, numpy, or array of the standard
    library). By default the first of these that the program has imported. A torch tensor lies on the GPU if there is one.
    """
    library = _of(like)
    size = (shape,) if isinstance(shape, int) else tuple(shape)
    name = library.__name__
    types = {"torch": _TORCH, "array": _STANDARD}.get(name, _NUMPY)
    if dtype not in types:
        raise ValueError(f"uniform: {name} has no type {dtype!r}; expected one of {', '.join(types)}")
    if name == "torch":
        return _torch(library, size, dtype, seed)
    if name == "array":
        if len(size) != 1:
            raise ValueError("uniform: array has one dimension")
        code = types[dtype]
        made = library.array(code, bytes(size[0] * library.array(code).itemsize))
    elif name in ("numpy", "cupy"):
        made = library.empty(size, types[dtype])
    else:
        import numpy
        return library.asarray(uniform(size, dtype, seed, like=numpy))
    if 0 not in size:
        _fill(made, seed)
    return made


def _of(like: Any) -> Any:
    if like is not None:
        return like
    for name in ("torch", "cupy", "jax.numpy", "numpy", "array"):
        if name in sys.modules:
            return sys.modules[name]
    raise RuntimeError("uniform: import torch, cupy, jax.numpy or numpy first, or pass like=")


def _torch(torch: Any, size: Sequence[int], dtype: str, seed: int) -> Any:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    made = torch.empty(size, dtype=getattr(torch, _TORCH[dtype]), device=device)
    if dtype not in ("e4m3", "e5m2"):
        _fill(made, seed)
        return made
    flat = made.view(-1)
    for first in range(0, flat.numel(), _AT_ONCE):
        part = torch.empty(min(_AT_ONCE, flat.numel() - first), dtype=torch.float32, device=device)
        _fill(part, seed, first)
        flat[first:first + _AT_ONCE] = part
    return made


def _fill(array: Any, seed: int, first: int = 0) -> None:
    _library.fill(_arrays.memory_of(array, "uniform"), seed, first)
