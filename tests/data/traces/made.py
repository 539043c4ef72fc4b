# SPDX-License-Identifier: Apache-2.0
"""Small traces of a made-up training program, as torch.profiler and Nsight Systems write them: what tests, fuzzing and
tests/bench/read_traces.py read in the place of real ones. Categories, arguments, tables and columns are those of traces
of PyTorch 1.13 to 2.11 and of exports of Nsight Systems 2026.1 and 2026.2.

    python3 made.py kineto FILE.json[.gz] [EVENTS] | nsys FILE.sqlite [EVENTS]
"""

import gzip
import json
import pathlib
import sqlite3
import sys

GEMM, COPY = "void gemm<float, 128>(float*)", "Memcpy HtoD (Pageable -> Device)"
PER_STEP = 10  # events: a range, four launches, three kernels, a copy, a wait


def steps(count, gemm_ns=40_000, start=1_000_000):
    """Per step its times, ns: (begin, end, [(launch, begin, end, what)], (wait begin, wait end))."""
    for number in range(count):
        begin = start + 500_000 * number
        work, at = [], begin + 20_000
        for place, (what, length) in enumerate((("copy", 5_000), ("gemm", gemm_ns), ("gemm", gemm_ns), ("relu", 4_001))):
            work.append((begin + 1_000 + 3_000 * place, at, at + length, what))
            at += length + 1_000
        yield begin, at + 20_000, work, (begin + 15_000, at + 10_000)


def kineto_events(count, gemm_ns=40_000, device=0, pid=4242):
    def us(ns):
        return f"{ns // 1000}.{ns % 1000:03}"

    def event(cat, name, process, thread, begin, end, args):
        return (f'{{"ph": "X", "cat": "{cat}", "name": {json.dumps(name)}, "pid": {process}, "tid": {thread},\n'
                f'    "ts": {us(begin)}, "dur": {us(end - begin)},\n    "args": {{{args}}}}}')

    correlation = 0
    for number, (begin, end, work, wait) in enumerate(steps(count, gemm_ns)):
        yield event("user_annotation", "step", pid, pid, begin, end, f'"External id": {number}')
        for launch, start, stop, what in work:
            correlation += 1
            call = "cudaMemcpyAsync" if what == "copy" else "cudaLaunchKernel"
            yield event("cuda_runtime", call, pid, pid, launch, launch + 2_000,
                        f'"External id": {number}, "cbid": 211, "correlation": {correlation}')
            place = f'"device": {device}, "context": 1, "stream": 7, "correlation": {correlation}'
            if what == "copy":
                yield event("gpu_memcpy", COPY, device, 7, start, stop,
                            f'"External id": {number}, {place}, "bytes": 4096, "memory bandwidth (GB/s)": 0.8')
            else:
                name = GEMM if what == "gemm" else "relu"
                yield event("kernel", name, device, 7, start, stop,
                            f'"External id": {number}, "queued": 0, {place}, "registers per thread": 40, '
                            '"shared memory": 400, "blocks per SM": 4.740741, "warps per SM": 75.851852, '
                            '"grid": [512, 1, 1], "block": [256, 1, 1], "est. achieved occupancy %": 75')
        correlation += 1
        yield event("cuda_runtime", "cudaDeviceSynchronize", pid, pid, *wait, f'"cbid": 165, "correlation": {correlation}')


def kineto(file, count=3, rank=None, extra="", **options):
    """`extra` is more of the root, as text: '"ERROR": ["…"],'."""
    file = pathlib.Path(file)
    to = (gzip.open if file.suffix == ".gz" else open)(file, "wt")
    with to:
        to.write('{\n  "schemaVersion": 1,\n  "deviceProperties": [{"id": 0, "name": "NVIDIA Test GPU", '
                 '"totalGlobalMem": 8589934592, "computeMajor": 9, "computeMinor": 0, "numSms": 132}],\n')
        if rank is not None:
            to.write(f'  "distributedInfo": {{"backend": "nccl", "rank": {rank}, "world_size": 2}},\n')
        to.write(f'  {extra}\n  "traceEvents": [\n')
        for number, event in enumerate(kineto_events(count, **options)):
            to.write(",\n  " * (number > 0) + event)
        to.write(',\n  {"name": "process_name", "ph": "M", "ts": 1.000, "pid": 4242, "tid": 0, "args": {"name": "python3"}},\n'
                 '  {"ph": "s", "id": 1, "pid": 4242, "tid": 4242, "ts": 1001.000, "cat": "ac2g", "name": "ac2g"},\n'
                 '  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 4242, "tid": 4242, "ts": 1001.000, "dur": 9.000,\n'
                 '    "args": {"grid": "grid(100,)", "bandwidth": inf}}\n'
                 '  ],\n  "traceName": "trace.json",\n  "baseTimeNanoseconds": 1719853884000000000\n}\n')


TABLES = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER NOT NULL, severity INTEGER NOT NULL, text TEXT NOT NULL, globalPid INTEGER);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, totalMemory INTEGER, memoryBandwidth INTEGER, smCount INTEGER,
  computeMajor INTEGER, computeMinor INTEGER);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL);
CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO (nullStreamId INTEGER NOT NULL, processId INTEGER NOT NULL,
  deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
  demangledName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, registersPerThread INTEGER NOT NULL,
  gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL,
  blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL,
  dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL, graphNodeId INTEGER, graphId INTEGER,
  clusterX INTEGER, clusterY INTEGER, clusterZ INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,
  copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL,
  bytes INTEGER NOT NULL, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
  contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, syncType INTEGER NOT NULL);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER,
  endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
"""
NAMES = [GEMM, "relu", "cudaLaunchKernel_v7000", "cudaMemcpyAsync_v3020", "cudaDeviceSynchronize_v3020", "step", "other"]


def process(pid):
    return 1 << 48 | pid << 24


def nsys(file, count=3, pids=(4242,), gemm_ns=40_000, sql=""):
    """`sql` is carried out at the end."""
    pathlib.Path(file).unlink(missing_ok=True)
    base = sqlite3.connect(file)
    base.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + TABLES)

    def rows(table, values):
        values = list(values)
        if values:
            base.executemany(f"INSERT INTO {table} VALUES ({','.join('?' * len(values[0]))})", values)

    rows("StringIds", enumerate(NAMES, 1))
    rows("META_DATA_EXPORT", [("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"), ("EXPORT_PRODUCT_VERSION", "2026.2.1.210")])
    rows("META_DATA_CAPTURE", [("PROCESS_0:ENVIRONMENT_VARIABLE", 'SLURM_PROCID="7"'),
                               ("PROCESS_0:ENVIRONMENT_VARIABLE", 'RANK="1"')])
    rows("TARGET_INFO_GPU", [(0, "NVIDIA Test GPU", 8 << 30, 760_080_000_000, 132, 9, 0)])
    for device, pid in enumerate(pids):
        own, thread = process(pid), process(pid) | pid & 0xFFFFFF
        kernels, copies, calls, ranges, waits = [], [], [], [], []
        correlation = 0
        for begin, end, work, wait in steps(count, gemm_ns):
            ranges.append((begin, end, 59, None, thread, None, 6, 0))
            for launch, start, stop, what in work:
                correlation += 1
                calls.append((launch, launch + 2_000, 0, thread, correlation, 4 if what == "copy" else 3, 0))
                if what == "copy":
                    copies.append((start, stop, device, 1, 7, correlation, own, 4096, 1, 0, 2, None))
                else:
                    kernels.append((start, stop, device, 1, 7, correlation, own, 1 if what == "gemm" else 2, None, 1, 40,
                                    512, 1, 1, 256, 1, 1, 0, 400, 0, None, None, 0, 0, 0))
            correlation += 1
            calls.append((*wait, 0, thread, correlation, 5, 0))
            waits.append((*wait, device, 1, 0, correlation, own, 4))
        rows("PROCESSES", [(own, pid, "/usr/bin/python3")])
        rows("TARGET_INFO_CUDA_DEVICE", [(0, device, pid)])
        rows("TARGET_INFO_CUDA_CONTEXT_INFO", [(7, pid, device, 1)])
        rows("CUPTI_ACTIVITY_KIND_KERNEL", kernels)
        rows("CUPTI_ACTIVITY_KIND_MEMCPY", copies)
        rows("CUPTI_ACTIVITY_KIND_RUNTIME", calls)
        rows("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", waits)
        rows("NVTX_EVENTS", ranges)
    base.executescript(sql)
    base.commit()
    base.close()


if __name__ == "__main__":
    kind, name, *events = sys.argv[1:]
    {"kineto": kineto, "nsys": nsys}[kind](name, int(events[0]) // PER_STEP if events else 3)
