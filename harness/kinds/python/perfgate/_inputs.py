# SPDX-License-Identifier: Apache-2.0
"""Inputs that depend on a seed alone, as arrays of the library that the author uses."""

from __future__ import annotations

import sys
from random import Random
from typing import Any, Sequence, Union

_TORCH = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "e4m3": "float8_e4m3fn",
          "e5m2": "float8_e5m2", "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8", "u8": "uint8"}
_NUMPY = {"f64": "float64", "f32": "float32", "f16": "float16", "i64": "int64", "i32": "int32", "i16": "int16",
          "i8": "int8", "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8"}


def uniform(shape: Union[int, Sequence[int]], dtype: str, seed: int, *, like: Any = None) -> Any:
    """An array of uniform values: [-1, 1) of a floating-point type, 0 to 99 of an integer type.

    like: the module whose array this is (torch, cupy, jax.numpy, numpy, or array of the standard
    library). By default the first of these that the program has imported. A torch tensor lies on the GPU if there is one.
    """
    library = _library(like)
    size = (shape,) if isinstance(shape, int) else tuple(shape)
    if library.__name__ == "torch":
        return _torch(library, size, dtype, seed)
    if library.__name__ == "array":
        return _standard(library, size, dtype, seed)
    if dtype not in _NUMPY:
        raise ValueError(f"uniform: {library.__name__} has no type {dtype!r}; expected one of {', '.join(_NUMPY)}")
    name = _NUMPY[dtype]
    if library.__name__ in ("numpy", "cupy"):
        random = library.random.default_rng(seed)
        if dtype[0] in "iu":
            return random.integers(0, 100, size).astype(name)
        return (random.random(size, dtype="float64" if dtype == "f64" else "float32") * 2 - 1).astype(name)
    import numpy
    return library.asarray(uniform(size, dtype, seed, like=numpy))


def _library(like: Any) -> Any:
    if like is not None:
        return like
    for name in ("torch", "cupy", "jax.numpy", "numpy", "array"):
        if name in sys.modules:
            return sys.modules[name]
    raise RuntimeError("uniform: import torch, cupy, jax.numpy or numpy first, or pass like=")


_CODES = {"f64": "d", "f32": "f", "i64": "q", "i32": "i", "i16": "h", "i8": "b", "u8": "B"}


def _standard(array: Any, size: Sequence[int], dtype: str, seed: int) -> Any:
    if dtype not in _CODES or len(size) != 1:
        raise ValueError(f"uniform: array has one dimension, of {', '.join(_CODES)}")
    random = Random(seed)
    draw = (lambda: random.randrange(100)) if dtype[0] in "iu" else (lambda: random.random() * 2 - 1)
    return array.array(_CODES[dtype], (draw() for _ in range(size[0])))


def _torch(torch: Any, size: Sequence[int], dtype: str, seed: int) -> Any:
    if dtype not in _TORCH:
        raise ValueError(f"uniform: torch has no type {dtype!r}; expected one of {', '.join(_TORCH)}")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    generator = torch.Generator(device=device).manual_seed(seed % 2**63)
    type_ = getattr(torch, _TORCH[dtype])
    if dtype[0] in "iu":
        return torch.randint(0, 100, size, generator=generator, device=device).to(type_)
    wide = torch.float64 if dtype == "f64" else torch.float32
    return (torch.rand(size, generator=generator, device=device, dtype=wide) * 2 - 1).to(type_)
