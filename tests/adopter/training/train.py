"""Stands for a program of yours, which suites/program.yaml names: it sets memory of the GPU to zero."""

import ctypes
import sys

driver = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    status = getattr(driver, name)(*arguments)
    if status != 0:
        sys.exit(f"{name}: CUDA error {status}")


size = ctypes.c_size_t(int(sys.argv[1]))
device, context, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
call("cuInit", 0)
call("cuDeviceGet", ctypes.byref(device), 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
call("cuCtxSetCurrent", context)
call("cuMemAlloc_v2", ctypes.byref(memory), size)
for _ in range(100):
    call("cuMemsetD8Async", memory, ctypes.c_ubyte(0), size, None)
call("cuCtxSynchronize")
