# SPDX-License-Identifier: Apache-2.0
"""perfgate.h in ctypes: the plugin interface that C and C++ plugins implement, too."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_char, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

MAJOR, MINOR = 1, 4
OK, ERROR, OUT_OF_MEMORY = range(3)
BOOL, INT, REAL, TEXT = range(4)
HOST, CUDA = range(2)
ASYNC = 0
ARITHMETIC = {None: 0, "f32": 1, "tf32": 2, "f16": 3, "bf16": 4, "fp8": 5}
ELEMENT = {"f": 1, "b": 2, "i": 3, "u": 4}  # by the first letter of a type


class Struct(ctypes.Structure):
    """Begins with its own size, as the interface wants it."""

    def __init__(self, **fields: object) -> None:
        super().__init__(size=ctypes.sizeof(type(self)), **fields)


class Param(Struct):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("help", c_char_p), ("type", c_int), ("minimum", c_int64),
                ("maximum", c_int64), ("choices", POINTER(c_char_p)), ("default_value", c_char_p),
                ("values", POINTER(c_char_p))]


class Value(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("integer", c_int64), ("real", c_double), ("text", c_char_p)]


class Values(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("count", c_size_t), ("values", POINTER(Value))]


SetError = CFUNCTYPE(None, c_void_p, c_char_p)


class Host(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("context", c_void_p), ("set_error", SetError), ("log", SetError)]


class Work(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("flops", c_double), ("bytes", c_double), ("arithmetic", c_int)]


class Verification(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("passed", c_int), ("detail", c_char * 512)]


class Output(Struct):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("data", c_void_p), ("bytes", c_uint64),
                ("element_bytes", c_uint32), ("element", c_uint32)]


AddOutput = CFUNCTYPE(None, c_void_p, POINTER(Output))


class Outputs(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("context", c_void_p), ("add", AddOutput)]


AddChoice = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p)


class Choices(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("context", c_void_p), ("add", AddChoice)]


Create = CFUNCTYPE(c_int, c_void_p, POINTER(Host), POINTER(Values), POINTER(c_void_p))
Destroy = CFUNCTYPE(None, c_void_p)
Fill = CFUNCTYPE(c_int, c_void_p, c_uint64)
Launch = CFUNCTYPE(c_int, c_void_p, c_void_p)
Verify = CFUNCTYPE(c_int, c_void_p, POINTER(Verification))
NameOutputs = CFUNCTYPE(c_int, c_void_p, POINTER(Outputs))
StateWork = CFUNCTYPE(c_int, c_void_p, POINTER(Work))
Prepare = CFUNCTYPE(c_int, c_void_p, POINTER(Choices))


class Variant(Struct):
    _fields_ = [("size", c_size_t), ("user", c_void_p), ("name", c_char_p), ("help", c_char_p), ("target", c_int),
                ("submission", c_int), ("min_compute_capability", c_int32), ("needs_reset", c_int32),
                ("supports", c_void_p), ("memory_bytes", c_void_p), ("create", Create), ("destroy", Destroy),
                ("fill", Fill), ("launch", Launch), ("reset", Launch), ("verify", Verify), ("outputs", NameOutputs),
                ("work", StateWork), ("prepare", Prepare)]


class Workload(Struct):
    _fields_ = [("size", c_size_t), ("user", c_void_p), ("name", c_char_p), ("help", c_char_p),
                ("params", POINTER(POINTER(Param))), ("variants", POINTER(POINTER(Variant))), ("work", c_void_p)]


class Plugin(Struct):
    _fields_ = [("size", c_size_t), ("abi_major", c_uint32), ("abi_minor", c_uint32), ("name", c_char_p),
                ("cuda_module", c_char_p), ("workloads", POINTER(POINTER(Workload)))]


def array_of_pointers(structs: list) -> ctypes.Array:
    """NULL-terminated; keeps the structs alive."""
    kind: Any = POINTER(type(structs[0])) if structs else c_void_p
    array: ctypes.Array[Any] = (kind * (len(structs) + 1))(*[ctypes.pointer(each) for each in structs])
    return array


def texts(values: list) -> ctypes.Array:
    return (c_char_p * (len(values) + 1))(*[value.encode() for value in values], None)
