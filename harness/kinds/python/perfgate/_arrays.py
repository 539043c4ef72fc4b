# SPDX-License-Identifier: Apache-2.0
"""Arrays of any library as memory: where it is, of what type, and how it is reached."""

from __future__ import annotations

import ctypes
import dataclasses
import sys
from typing import Any, List, Optional

# Types as perfgate names them, by what libraries call them.
_TYPES = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32",
          "int16": "i16", "int8": "i8", "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "u8"}
_BY_CODE = {"f8": "f64", "f4": "f32", "f2": "f16", "i8": "i64", "i4": "i32", "i2": "i16", "i1": "i8", "u8": "u64",
            "u4": "u32", "u2": "u16", "u1": "u8", "b1": "u8"}
_BY_FORMAT = {"d": "f64", "f": "f32", "e": "f16", "q": "i64", "l": "i64", "i": "i32", "h": "i16", "b": "i8", "Q": "u64",
              "L": "u64", "I": "u32", "H": "u16", "B": "u8", "?": "u8"}
_BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2, "i8": 1, "u64": 8, "u32": 4,
          "u16": 2, "u8": 1}


@dataclasses.dataclass(frozen=True)
class Memory:
    """An array's elements, contiguous. `owner` keeps them alive."""

    address: int
    count: int
    type: str
    on_device: bool
    owner: Any

    @property
    def bytes(self) -> int:
        return self.count * _BYTES[self.type]

    def overlaps(self, other: Memory) -> bool:
        return self.address < other.address + other.bytes and other.address < self.address + self.bytes


def memory_of(array: Any, what: str) -> Memory:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return _of_tensor(array, what)
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(array, jax.Array):
        kind = _type(str(array.dtype), what)
        on_device = all(device.platform != "cpu" for device in array.devices())
        return Memory(array.unsafe_buffer_pointer(), array.size, kind, on_device, array)
    for interface, on_device in (("__cuda_array_interface__", True), ("__array_interface__", False)):
        described = getattr(array, interface, None)
        if described is not None:
            return _of_interface(described, on_device, array, what)
    return _of_buffer(array, what)


def _of_buffer(array: Any, what: str) -> Memory:
    try:
        view = memoryview(array)
    except TypeError:
        raise TypeError(f"{what} is a {type(array).__name__}, not an array of torch, cupy, numba, jax or numpy") from None
    if view.format not in _BY_FORMAT or not view.c_contiguous or view.readonly or view.nbytes == 0:
        raise ValueError(f"{what} must be writable, contiguous and not empty, of numbers; its format is {view.format!r}")
    address = ctypes.addressof(ctypes.c_char.from_buffer(view))
    return Memory(address, view.nbytes // view.itemsize, _BY_FORMAT[view.format], False, view)


def _of_tensor(tensor: Any, what: str) -> Memory:
    if not tensor.is_contiguous():
        raise ValueError(f"{what} is not contiguous: name the tensor that owns the memory, or call contiguous()")
    name = str(tensor.dtype).rpartition(".")[2]
    return Memory(tensor.data_ptr(), tensor.numel(), _type(name, what), tensor.is_cuda, tensor)


def _of_interface(described: dict, on_device: bool, array: Any, what: str) -> Memory:
    if described.get("strides") is not None and not _is_contiguous(described):
        raise ValueError(f"{what} is not contiguous")
    code = described["typestr"][1:]
    if code not in _BY_CODE or described["typestr"][0] == ">":
        raise TypeError(f"{what} has elements of type {described['typestr']!r}, which perfgate cannot compare")
    count = 1
    for extent in described["shape"]:
        count *= extent
    return Memory(described["data"][0], count, _BY_CODE[code], on_device, array)


def _is_contiguous(described: dict) -> bool:
    step = int(described["typestr"][2:])
    for extent, stride in zip(reversed(described["shape"]), reversed(described["strides"])):
        if extent != 1 and stride != step:
            return False
        step *= extent
    return True


def _type(name: str, what: str) -> str:
    if name not in _TYPES:
        raise TypeError(f"{what} has elements of type {name}, which perfgate cannot compare; "
                        "convert them in `reference` and `outputs`")
    return _TYPES[name]


def listed(arrays: Any) -> List[Any]:
    """One array, or several, as a list."""
    if isinstance(arrays, (list, tuple)):
        return list(arrays)
    return [arrays]


class Driver:
    """The few functions of the CUDA driver that filling and checking need. What made the array has initialised it."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")

    def _check(self, result: int, what: str) -> None:
        if result != 0:
            raise RuntimeError(f"{what}: CUDA error {result}")

    def wait(self) -> None:
        self._check(self._library.cuCtxSynchronize(), "waiting for the device")

    def set_bytes(self, memory: Memory, byte: int) -> None:
        result = self._library.cuMemsetD8_v2(ctypes.c_uint64(memory.address), ctypes.c_ubyte(byte),
                                             ctypes.c_size_t(memory.bytes))
        self._check(result, "overwriting an output")

    def address_of(self, function: str) -> Optional[int]:
        return ctypes.cast(getattr(self._library, function), ctypes.c_void_p).value


_driver: Optional[Driver] = None


def driver() -> Driver:
    global _driver
    if _driver is None:
        _driver = Driver()
    return _driver


def set_bytes(memory: Memory, byte: int) -> None:
    if memory.on_device:
        driver().set_bytes(memory, byte)
    else:
        ctypes.memset(memory.address, byte, memory.bytes)


def reader(memory: Memory) -> Optional[int]:
    """The function that copies parts of it to the host: (to, from, bytes) -> 0. None: it is there."""
    return driver().address_of("cuMemcpyDtoH_v2") if memory.on_device else None


def writer(memory: Memory) -> Optional[int]:
    """Likewise from the host."""
    return driver().address_of("cuMemcpyHtoD_v2") if memory.on_device else None


def release_pools() -> None:
    """Gives freed memory back to the device, so that `memory_peak` of the next case counts all of its own."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
    if cupy is not None:
        cupy.get_default_memory_pool().free_all_blocks()
