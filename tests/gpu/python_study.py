# SPDX-License-Identifier: Apache-2.0
"""On a GPU: what kernels from Python cost and how steady they are: python_study.py [PART...] [OPTION...].

    inputs     filling and comparing 2^24 elements, beside the libraries' own generators
    jax        a JAX function with a hot cache, beside the kernel records of a program that calls it
    page       the cases of docs/python.md: a first baseline and a run, as the page says
    cost       seconds per case of 20 cases, from Python and of a plugin in C++, imports apart
    pytest     pytest --perfgate collects the same cases
    unchanged  a baseline of a case of each library, then --runs unchanged runs: verdicts of each. A server
               imports the libraries once and forks the interpreters: what a user waits for is in `page`

Parts and runs that --seconds leaves no time for are said. With --folder, what a call leaves there is used by
the next: `unchanged` then has its baseline. Environment: PERFGATE."""

import argparse
import collections
import contextlib
import importlib.util
import json
import os
import pathlib
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PERFGATE = pathlib.Path(os.environ["PERFGATE"]).resolve()
MODULE = PERFGATE.parents[1] / "lib/perfgate/python"
N = 1 << 22


def say(text):
    print(f"[{time.monotonic() - START:5.1f} s] {text}", flush=True)


def run(*words, codes=(0,)):
    began = time.monotonic()
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300)
    if done.returncode not in codes:
        raise RuntimeError(f"{words}: exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done, time.monotonic() - began


def write(name, text):
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def suite(name, file, more, interpreter=sys.executable):
    return write(f"suites/{name}.yaml", f"name: {name}\nworkloads:\n  - {{python: ../{file}, interpreter: {interpreter}, {more}}}\n")


def measured(out="perfgate-out"):
    document = json.loads(pathlib.Path(out, "run.json").read_text())
    return document, {case["id"]: case for case in document["suites"][0]["cases"]}


def phases(document):
    return ", ".join(f"{name} {seconds:.1f}" for name, seconds in sorted(document["phase_s"].items(), key=lambda one: -one[1])
                     if seconds >= 0.05)


# --- parts

INPUTS = '''
import sys, time
sys.path.insert(0, sys.argv[1])
began = time.perf_counter()
import ctypes, numpy, torch, cupy
print(f"import torch, cupy: {time.perf_counter() - began:.2f} s")
import perfgate
from perfgate import _abi, _arrays, _library
n = 1 << 24


def took(what, work, before=None):
    spent = []
    for _ in range(3):
        began = time.perf_counter()
        result = work()
        torch.cuda.synchronize()
        spent.append(time.perf_counter() - began)
    print(f"{what}: first {1e3 * spent[0]:.0f} ms, then {1e3 * min(spent[1:]):.1f} ms")
    return result


def own_torch():
    generator = torch.Generator(device="cuda").manual_seed(1)
    return (torch.rand(n, generator=generator, device="cuda", dtype=torch.float32) * 2 - 1).to(torch.float16)


took("torch's start", lambda: torch.zeros(1, device="cuda"))
took("torch f16, its generator", own_torch)
a = took("torch f16, perfgate.uniform", lambda: perfgate.uniform(n, "f16", 1, like=torch))
took("cupy's start", lambda: cupy.zeros(1))
took("cupy f32, its generator", lambda: (cupy.random.default_rng(1).random(n, dtype="float32") * 2 - 1).astype("float32"))
b = took("cupy f32, perfgate.uniform", lambda: perfgate.uniform(n, "f32", 1, like=cupy))
host = perfgate.uniform(n, "f16", 1, like=numpy)
assert (a.cpu().numpy() == host).all() and (b.get().astype("f2") == host).all()
print("torch, cupy and numpy have the same values")
took("cupy reference 2.5 * x.astype('f8')", lambda: 2.5 * b.astype("f8"))
wanted = took("torch reference a.double()", lambda: a.double())
result = _abi.Verification(ctypes.sizeof(_abi.Verification))
took("comparing f16 with f64 on the device",
     lambda: _library.compare(_arrays.memory_of(a, "output"), _arrays.memory_of(wanted, "reference"), 0.0, 0.0, result))
assert result.passed, result.detail
if len(sys.argv) > 2:
    began = time.perf_counter()
    import jax.numpy as jnp
    print(f"import jax: {time.perf_counter() - began:.2f} s")
    took("jax's start", lambda: jnp.zeros(1).block_until_ready())
    took("jax f32, perfgate.uniform", lambda: perfgate.uniform(n, "f32", 1, like=jnp).block_until_ready())
'''


def part_inputs():
    done, _ = run(sys.executable, write("inputs.py", INPUTS), MODULE, "jax")
    for line in done.stdout.splitlines():
        say(f"  {line}")


JAX = f'''
import jax, jax.numpy as jnp, numpy, perfgate
wave = jax.jit(lambda x: jnp.sin(x) * 2 + 1)
kept = []


@perfgate.workload(n=[{N}], variants=["dropped", "kept"])
def jax_wave(n, seed, variant):
    x = perfgate.uniform(n, "f32", seed, like=jnp)

    def keep():
        kept[:] = [wave(x)]
        return kept[0]
    return perfgate.Case(keep if variant == "kept" else (lambda: wave(x)), reference=lambda: numpy.sin(numpy.asarray(x, "f8")) * 2 + 1,
                         rtol=1e-5, atol=1e-5, bytes=8 * n)
'''
JAX_LOOPS = f'''
import os
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import time
import jax, jax.numpy as jnp, numpy
wave = jax.jit(lambda x: jnp.sin(x) * 2 + 1)
x = jnp.asarray(numpy.random.default_rng(1).random({N}, dtype="float32"))
wave(x).block_until_ready()
for _ in range(200):          # each result is free before the next
    wave(x).block_until_ready()
for _ in range(200):          # the last result lives until the next is there
    y = wave(x)
    y.block_until_ready()
for _ in range(200):          # the same, not waiting
    y = wave(x)
y.block_until_ready()
del y
for _ in range(200):          # as the first, with a pause
    wave(x).block_until_ready()
    time.sleep(1e-4)
'''


def part_jax():
    write("jax_kernels.py", JAX)
    run(PERFGATE, "run", suite("jax", "jax_kernels.py", "cache: [cold, hot], metrics: [gpu_time], time_budget: 100ms, "
                               "tolerances: {gpu_time: 5%}"), "--processes", 1, codes=(0, 4))
    document, cases = measured()
    for name, case in cases.items():
        samples = sorted(case["metrics"]["gpu_time"]["batches"][0]["samples"])
        say(f"  {name}: median {statistics.median(samples) / 1e3:.2f} µs, quartiles {samples[len(samples) // 4] / 1e3:.2f} to "
            f"{samples[3 * len(samples) // 4] / 1e3:.2f}, {len(samples)} samples; {case.get('notes')}")
    say(f"  phases of that run: {phases(document)}")
    run(PERFGATE, "profile", "--level", "records", "--report", "loops.sqlite", "--", sys.executable, write("loops.py", JAX_LOOPS))
    with contextlib.closing(sqlite3.connect("loops.sqlite")) as database:
        rows = database.execute("SELECT name, duration_ns FROM kernels ORDER BY start_ns").fetchall()
    name = collections.Counter(name for name, _ in rows).most_common(1)[0][0]
    times = [duration for one, duration in rows if one == name][1:]
    for number, what in enumerate(("result dropped, waiting", "last result kept, waiting", "last result kept, not waiting",
                                   "result dropped, waiting, with pauses")):
        part = times[200 * number + 20:200 * (number + 1)]
        say(f"  records of a program, {what}: median {statistics.median(part) / 1e3:.2f} µs of {len(part)} ({name[:40]})")


def part_page():
    page = (SOURCE / "docs/python.md").read_text()
    write("kernels.py", re.search(r"`kernels.py`.*?```python\n(.*?)```", page, re.DOTALL)[1])
    at = suite("kernels", "kernels.py", "tolerances: {gpu_time: 2%, registers: 0}")
    _, took = run(sys.executable, "-c", "import torch, triton")
    say(f"  import torch, triton: {took:.1f} s")
    for words in (("baseline", "refresh", at), ("run", at)):
        done, took = run(PERFGATE, *words, codes=(0, 1, 2, 3, 4))
        document, cases = measured()
        processes = {name: len(case["metrics"]["gpu_time"]["batches"]) for name, case in cases.items()}
        say(f"  {' '.join(map(str, words))}: {took:.1f} s, exit code {done.returncode}; processes: {processes}; phases: "
            f"{phases(document)}")
        if done.returncode:
            say(f"    {(done.stdout + done.stderr)[-600:]}")


VALUES = [(k + 1) * 50000 for k in range(20)]
COST = f'''
import cupy, numpy, perfgate
RAW = cupy.RawKernel("""
extern "C" __global__ void scale(const float* in, float* out, size_t n) {{
    const size_t i = blockIdx.x * size_t{{blockDim.x}} + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}}""", "scale")


@perfgate.workload(n={VALUES})
def scale(n, seed):
    x = perfgate.uniform(n, "f32", seed, like=cupy)
    out = cupy.empty_like(x)
    return perfgate.Case(launch=lambda: RAW(((n + 255) // 256,), (256,), (x, out, numpy.uint64(n))), outputs=[out],
                         reference=lambda: 2 * x.astype("f8"), bytes=8 * n)
'''


def part_cost():
    page = (SOURCE / "docs/plugins.md").read_text()
    write("scale.cu", re.search(r"```cpp file=one/scale.cu\n(.*?)```", page, re.DOTALL)[1])
    _, took = run("nvcc", "-std=c++20", "-O3", "-arch=native", "-shared", "-Xcompiler=-fPIC", "-I", SOURCE / "harness/sdk", "-o", "scale.so",
                  "scale.cu")
    say(f"  nvcc: {took:.1f} s")
    write("cost.py", COST)
    found = {}
    for name, at in (
            ("C++", write("suites/cpp.yaml", "name: cpp\ndefaults: {metrics: [core]}\nplugins: [../scale.so]\nworkloads:\n"
                          f"  - workload: scale\n    variants: [simple]\n    tolerances: {{gpu_time: 5%}}\n    matrix: {{n: {VALUES}}}\n")),
            ("Python", suite("cost", "cost.py", "metrics: [core], tolerances: {gpu_time: 5%}"))):
        run(PERFGATE, "run", at, "--processes", 3, "--filter", "*n=50000]", codes=(0, 4))  # what is compiled once
        _, one = run(PERFGATE, "run", at, "--processes", 3, "--filter", "*n=50000]", codes=(0, 4))
        _, all_ = run(PERFGATE, "run", at, "--processes", 3, codes=(0, 4))
        document, cases = measured()
        assert len(cases) == 20 and all(case["status"] == "measured" for case in cases.values()), cases
        found[name] = (all_ - one) / 19
        say(f"  {name}: 1 case {one:.2f} s, 20 cases {all_:.2f} s: {found[name]:.3f} s a case; phases: {phases(document)}")
    say(f"  a case from Python takes {found['Python'] / found['C++']:.2f} times that of the plugin, imports apart")


def part_pytest():
    write("py/kernels.py", COST.replace(str(VALUES), str(VALUES[:3])))
    write("py/suites/small.yaml", f"name: small\nworkloads:\n  - {{python: ../kernels.py, interpreter: {sys.executable}, "
          "metrics: [gpu_time], tolerances: {gpu_time: 5%}}\n")
    environment = {**os.environ, "PYTHONPATH": str(MODULE)}
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "perfgate.pytest_plugin", "-p", "no:cacheprovider", "--perfgate",
                           "--perfgate-args=--processes 1", "-rA", "suites"], cwd="py", env=environment, capture_output=True, text=True)
    for line in (done.stdout + done.stderr[-500:]).strip().splitlines()[-8:]:
        say(f"  {line}")


SERVER = '''
import json, os, runpy, socket, sys
for name in sys.argv[1:]:
    __import__(name)
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.bind("interpreters")
server.listen(64)
print("ready", flush=True)
while True:
    client, _ = server.accept()
    if os.fork():
        client.close()
        continue
    server.close()
    told, ends, _, _ = socket.recv_fds(client, 1 << 20, 4)
    told = json.loads(told)
    child = os.fork()
    if child:
        for end in ends:
            os.close(end)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        try:
            client.sendall(str(code).encode())
        except OSError:
            pass  # it was ended
        os._exit(0)
    client.close()
    for to, end in enumerate(ends):
        os.dup2(end, to)
    os.chdir(told["folder"])
    os.environ.clear()
    os.environ.update(told["environment"])
    sys.argv = told["words"]
    sys.path[0] = os.path.dirname(sys.argv[0])
    runpy.run_path(sys.argv[0], run_name="__main__")
    os._exit(0)
'''
FORKED = """#!%s -IS
import json, os, socket, sys
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.connect(os.path.join(os.path.dirname(os.path.abspath(__file__)), "interpreters"))
told = {"folder": os.getcwd(), "environment": dict(os.environ), "words": sys.argv[1:]}
socket.send_fds(server, [json.dumps(told).encode()], [0, 1, 2, 3])
for end in (0, 1, 2, 3):
    os.close(end)
code = int(server.recv(100) or b"99")
os._exit(code if code >= 0 else 128 - code)
""" % sys.executable


@contextlib.contextmanager
def interpreters(modules):
    """A program that is forked from a process which has imported them: it starts as an interpreter does."""
    pathlib.Path("interpreters").unlink(missing_ok=True)
    with subprocess.Popen([sys.executable, write("server.py", SERVER), *modules], stdout=subprocess.PIPE, text=True) as server:
        try:
            if server.stdout.readline() != "ready\n":
                raise RuntimeError("the server of interpreters did not start")
            forked = write("forked.py", FORKED).resolve()
            forked.chmod(0o755)
            yield forked
        finally:
            server.kill()


ONE_OF_EACH = ["cupy_scale/*", "numba_scale/*", "jax_wave/*", "triton_add/fixed*", "torch_gelu/eager*"]


def part_unchanged():
    os.environ.update(PERFGATE_TEST_PLUGINS="none", PERFGATE_SOURCE=str(SOURCE))  # which its imports ask for
    sys.path.insert(0, str(SOURCE / "tests/e2e"))
    import test_gpu_python as kernels
    text = "import perfgate\n" + "".join(kernels.PARTS[part] for part in kernels.INSTALLED)
    write("kernels_of_all.py", text)
    modules = [name for name in ("torch", "triton", "cupy", "numba.cuda", "jax") if importlib.util.find_spec(name.split(".")[0])]
    if "numba.cuda" in modules:
        write("old_name.py", "import numpy\nnumpy.row_stack = numpy.vstack\n")  # which releases of Numba still look for
        modules.insert(0, "old_name")
    with interpreters(modules) as forked:
        say(f"  {', '.join(modules)} are imported")
        words = "metrics: [gpu_time, registers], time_budget: 20ms, tolerances: {gpu_time: 5%, registers: 0}"
        unchanged_runs(suite("all", "kernels_of_all.py", words, forked))


def unchanged_runs(at):
    chosen = [word for pattern in ONE_OF_EACH for word in ("--filter", pattern)]
    if not list(pathlib.Path("baselines").glob("*/all.json")):
        done, took = run(PERFGATE, "baseline", "refresh", at, *chosen, codes=(0, 1, 2, 3, 4))
        say(f"  first baseline: {took:.1f} s, exit code {done.returncode} {done.stderr.strip()[-300:]}; phases: {phases(measured()[0])}")
    longest = 0
    for number in range(options.runs):
        if not has_time(longest):
            say(f"  no time for more than {number} runs")
            return
        done, took = run(PERFGATE, "run", at, *chosen, codes=(0, 1, 3, 4))
        longest = max(longest, took)
        document, cases = measured()
        verdicts = json.loads(pathlib.Path("perfgate-out/verdict.json").read_text())["suites"][0]["cases"]
        counts = collections.Counter(case["verdict"] for case in verdicts)
        say(f"  run {number + 1}: {took:.1f} s, exit code {done.returncode}, {dict(counts)}" + (f"; {phases(document)}" if number == 0 else ""))
        for case in verdicts:
            if case["verdict"] not in ("pass", "improved", "no_baseline"):
                say(f"    {case['id']}: {case['verdict']}: {' '.join(case.get('why', []))[:300]}")
        if number == 0:
            for name, case in cases.items():
                prepared = case["metrics"].get("prepare_time", {})
                say(f"    {name}: {case['metrics']['gpu_time']['value'] / 1e3:.2f} µs, prepared in "
                    f"{prepared.get('value', 0) / 1e9:.2f} s: {prepared.get('detail')}")


PARTS = {name[5:]: part for name, part in list(globals().items()) if name.startswith("part_")}


def has_time(least):
    return options.seconds is None or time.monotonic() - START + least < options.seconds


def main():
    failed = False
    for part in options.parts or PARTS:
        if not has_time(5):
            say(f"{part}: no time is left")
            continue
        say(part)
        try:
            PARTS[part]()
        except Exception as error:  # the other parts do not need it
            say(f"  failed: {type(error).__name__}: {error}")
            failed = True
    return int(failed)


if __name__ == "__main__":
    START = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--seconds", type=float, help="begin no part or run after this time")
    parser.add_argument("--runs", type=int, default=10, help="of unchanged (default 10)")
    parser.add_argument("--folder", help="work there and leave it")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}")
    if not os.path.exists("/dev/nvidiactl"):
        print("skipped: no NVIDIA GPU on this machine (/dev/nvidiactl is absent)")
        sys.exit(77)
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    if options.folder:
        os.makedirs(options.folder, exist_ok=True)
        os.chdir(options.folder)
        sys.exit(main())
    with tempfile.TemporaryDirectory(prefix="perfgate-") as folder:
        os.chdir(folder)
        sys.exit(main())
