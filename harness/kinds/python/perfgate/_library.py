# SPDX-License-Identifier: Apache-2.0
"""perfgate's worker library, which lies beside the package: it fills inputs, compares outputs, and is the worker.

Arrays on a device are read and written in chunks, by a function of the driver that the library calls.
"""

from __future__ import annotations

import ctypes
from typing import Optional

from . import _abi as abi
from . import _arrays, _command


class Elements(ctypes.Structure):
    """As the library's perfgate_elements."""

    _fields_ = [("data", ctypes.c_void_p), ("count", ctypes.c_size_t), ("type", ctypes.c_char_p),
                ("copy", ctypes.c_void_p)]


_opened: Optional[ctypes.CDLL] = None


def opened(file: Optional[str] = None) -> ctypes.CDLL:
    """The library; `file`: which, the first time. By default that of the wheel or the installation."""
    global _opened
    if _opened is None:
        _opened = ctypes.CDLL(file or str(_command.file_of_tree("lib/perfgate/libperfgate_worker.so")))
        _opened.perfgate_compare.restype = _opened.perfgate_fill.restype = None
    return _opened


def fill(memory: _arrays.Memory, seed: int, first: int = 0) -> None:
    """With uniform values, which are a function of the seed and the index: the same in every library."""
    result = abi.Verification(ctypes.sizeof(abi.Verification))
    to = _elements(memory, _arrays.writer(memory))
    if memory.on_device:
        _arrays.driver().wait()  # what has the memory's address may still be in use
    opened().perfgate_fill(ctypes.byref(to), ctypes.c_uint64(seed % 2**64), ctypes.c_uint64(first), ctypes.byref(result))
    if memory.on_device:
        _arrays.driver().wait()  # a copy returns before it has arrived
    if not result.passed:
        raise RuntimeError(result.detail.decode(errors="replace"))


def compare(found: _arrays.Memory, expected: _arrays.Memory, rtol: float, atol: float, result: abi.Verification) -> None:
    """All elements."""
    own, other = (_elements(memory, _arrays.reader(memory)) for memory in (found, expected))
    opened().perfgate_compare(ctypes.byref(own), ctypes.byref(other), ctypes.c_double(rtol), ctypes.c_double(atol),
                              ctypes.byref(result))


def _elements(memory: _arrays.Memory, copy: Optional[int]) -> Elements:
    return Elements(memory.address, memory.count, memory.type.encode(), copy)
