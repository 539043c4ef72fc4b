# SPDX-License-Identifier: Apache-2.0
"""A suite with real programs on a GPU: gate_programs.py [--keep DIR] [PART...].

Refreshes a baseline, runs unchanged, and then runs the program with a regression in it, which must be
found and named. Environment as for profile_programs.py. Parts: unchanged, kernels, edits, ab, ab_cpp, sensors,
graphs, silent, replays, counters, benchmark_kernels, nvbench, torch_counters, triton, cupy, jax, overhead, health,
gpus, and ranks and nvlink (which need two). Only silent needs no PyTorch. nvbench needs PERFGATE_NVBENCH: what tests/gpu/nvbench builds, nvbench's own examples
in `base`, and in `slow` the same with kernels in nvbench/test_kernels.cuh that do 3 % more.
`unchanged:4` runs four times, `edits:NAME` tries one edit alone. A failure ends its part, not the others.

What the runs leave is kept in --keep DIR; the baseline of the training step that is there is used again. Processes
of a baseline and of a run: PERFGATE_GATE_PROCESSES and PERFGATE_GATE_RUN_PROCESSES.
"""

import argparse
import collections
import functools
import html
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import typing

import profile_programs as tools

# A process takes seconds to start, so that more of them, and of runs, cost minutes. Fewer find nothing in times: the
# least probability of 5 against 12 is 0.00016, and a run of four times may give a false alarm in 0.001.
PROCESSES = int(os.environ.get("PERFGATE_GATE_PROCESSES", 12))
RUN_PROCESSES = int(os.environ.get("PERFGATE_GATE_RUN_PROCESSES", 5))
UNCHANGED_RUNS = 3
COUNTED = 3  # where what is gated are counts, and times may be not shown

SUITE = """
name: training
workloads:
  - command: ["{python}", training_step.py, --steps, 5]
    name: train
    warmup: {warmup}
    max_overhead: {max_overhead}
    gpus: {gpus}
    measure:
      step: {{nvtx: step, skip: 10}}
      backward: {{nvtx: backward, skip: 10}}
      flash: {{kernel: "*flash*", within: step, skip: 10}}
    tolerances:
      step.gpu_time: 2%
      step.kernels: 0
      step.idle_share: 10pt
      backward.gpu_time: 2%
      flash.gpu_time: 3%
      flash.registers: 0
    expect:
      step.syncs: "== 0"
      step.pageable_copies: "== 0"
      step.hottest_kernel: "== *nvjet*"   # cuBLAS's kernels for bf16
"""

GRAPHS = """
name: graphs
workloads:
  - command: ["{program}"]
    name: graphs
    measure:
      streams: {{nvtx: streams}}
      graph: {{nvtx: graph}}
      copies: {{nvtx: copies}}
      spin: {{kernel: "*spin*"}}
    # How four streams overlap differs from run to run, and copies of pageable memory take what the host has left; how long
    # a kernel takes does not.
    tolerances: {{streams.gpu_time: 30%, streams.kernels: 0, spin.gpu_time: 5%, graph.gpu_time: 5%, graph.kernels: 0,
                 copies.gpu_time: 100%}}
    expect: {{graph.graph_launches: ">= 1", copies.pageable_copies: ">= 1"}}
"""

# The first GPU reads the second's memory.
NVLINK = """
name: nvlink
workloads:
  - command: [./app]
    name: peer
    gpus: 2
    max_overhead: 10000%
    measure:
      read: {{kernel: "*read_peer*", skip: 1, count: 2}}
    tolerances: {{read.nvlink_bytes: 10%}}
"""

# One program with one NVTX range; edited, it does twice the work in it.
STEPS = """
name: steps
workloads:
  - command: {command}
    name: steps
    gpus: {gpus}
    max_overhead: 10000%
    measure:
      step: {{nvtx: step, skip: 5}}
    tolerances: {{step.gpu_time: {tolerance}, step.kernels: 0, program.kernels: 0}}
"""

# A step that is one graph.
REPLAYS = """
name: replays
workloads:
  - command: ["{python}", decode_graph.py]
    name: decode
    max_overhead: 10000%
    measure:
      step: {{nvtx: step, skip: 20}}
    tolerances: {{step.gpu_time: 10%, step.kernels: 0, step.host_launches: 0}}
    expect: {{step.graph_launches: "== 1"}}
"""

# Kernels of known work. All metrics together need several passes.
COUNTERS = """
name: counters
workloads:
  - command: [./app]
    name: counted
    max_overhead: 10000%
    measure:
      copy: {{kernel: "*copy_bytes*", skip: 1}}
      add: {{kernel: "*multiply_add*", within: step, skip: 1, count: 3}}
    tolerances:
      copy.dram_bytes: 2%
      copy.dram_read_bytes: 2%
      copy.load_bytes: 0
      copy.instructions: 0
      copy.sectors_per_request_load: 0
      copy.l2_hit_rate: 20%
      copy.cycles: 50%
      add.smsp__sass_thread_inst_executed_op_ffma_pred_on.sum: 0
      add.instructions: 0
      add.warp_efficiency: 0
      add.occupancy: 20%
      add.dram_bytes: {{worse: 400%, abs: 16MiB}}
"""

FMA = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"

# Launches in a graph are not counted, those outside are.
GRAPH_COUNTERS = """
name: graphs
workloads:
  - command: ["{program}"]
    name: graphs
    max_overhead: 10000%
    measure:
      spin: {{kernel: "*spin*", skip: 4, count: 2}}
      node: {{kernel: "*node*"}}
    tolerances: {{spin.instructions: 0, node.instructions: 0}}
"""

# One kernel in two sizes. A step of it is the part that counts.
SENSORS = """
name: sensors
workloads:
  - command: [./app]
    name: sensors
    max_overhead: 10000%
    capture: {capture}
    measure:
      step: {{nvtx: step, skip: 2}}
      camera: {{kernel: "*scale*", grid: 1024, block: 256}}
      lidar: {{kernel: "*scale*", grid: 64, block: 128}}
    tolerances: {{step.memory_peak: 0, program.memory_peak: 0, camera.gpu_time: 10%, camera.stack: 0,
                 lidar.gpu_time: 10%, lidar.kernels: 0}}
    expect: {{camera.kernels: "== {launches}"}}
"""

# A program that states its own numbers, and its kernels. Each process has another number of steps, as with benchmarks
# that iterate for a given time.
BENCHMARK = """
name: benchmark
workloads:
  - benchmark: [./app, "{{out}}"]
    name: bench
    format: json
    rows: /rows/*
    case: /name
    values:
      copied: {{from: /copied_bytes, better: none}}
      real_time: {{from: /seconds, unit: s}}
    measure:
      copy: {{kernel: "*copy_bytes*", skip: 1}}
      add: {{kernel: "*multiply_add*", within: step, skip: 1, count: 2}}
      step: {{nvtx: step, skip: 1}}
    tolerances:
      copied: 0
      copy.gpu_time: 5%
      copy.registers: 0
      add.gpu_time: 5%
      add.instructions: 0
      add.dram_bytes: {{worse: 400%, abs: 16MiB}}
      step.kernels: 0
    expect: {{step.syncs: "== 1"}}
"""

BENCH = """
import json, subprocess, sys, time
program, work, out = sys.argv[1:]
with open("started", "a+") as mark:
    mark.write("x")
    mark.flush()
    mark.seek(0)
    steps = 4 + len(mark.read()) % 7
begin = time.monotonic()
stated = json.loads(subprocess.run([program, work, "alone", str(steps)], check=True, capture_output=True).stdout)
row = {"name": "whole", "copied_bytes": stated["copied_bytes"], "seconds": time.monotonic() - begin}
with open(out, "w") as file:
    json.dump({"rows": [row]}, file)
"""

# Examples of nvbench, as they are; of `axes`, which has many, the benchmarks with copies of 256 MiB.
NVBENCH = {"axes": ["copy_sweep_grid_shape", "copy_type_sweep"], "throughput": [], "stream": [], "skip": [], "exec_tag_sync": []}
NVBENCH_TOLERANCES = {"exec_tag_sync": "10%"}  # waits for the host; processes differ by more than 1.5 %
NVBENCH_RUNS, NVBENCH_PROCESSES = 10, 20  # with 12, five of a run cannot reach the level that 38 cases leave each
UNSLOWED = ("exec_tag_sync", "Duration=0,")  # runs Thrust's kernel; sleeps for nothing

TORCH_COUNTERS = """
name: training
workloads:
  - command: ["{python}", training_step.py, --steps, 1]
    name: train
    max_overhead: 10000%
    measure:
      flash: {{kernel: "*flash*", within: step, skip: 4, count: 4}}
    tolerances:
      flash.instructions: 1%
      flash.dram_bytes: 30%
      flash.tensor_instructions: 1%
      flash.l2_hit_rate: 30%
      flash.occupancy: 30%
      flash.sm__inst_executed_pipe_tensor_op_gmma.sum: 1%
"""

# Flagged cases are not measured again: what is tested here is what a run finds and says.
PROFILE = """
policy:
  rounds: 0
"""


# What is changed in the program, and what a run must say.
class Edit(typing.NamedTuple):
    old: str
    new: str
    named: tuple  # patterns that the reports must have; after "why: ", junit.xml, too
    processes: int = 1  # enough for counts
    regressed: tuple = ()  # label and metric


# With attention or the arithmetic replaced, there may be fewer kernels: their times regress.
EDITS = {
    "flash attention off": Edit("import common\n", "import common\n"
                                "torch.backends.cuda.enable_flash_sdp(False)\n"
                                "torch.backends.cuda.enable_cudnn_sdp(False)\n",
                                (r"gpu_time", r"why: (but )?(removed: )?\S*flash\S*.* per step"), RUN_PROCESSES),
    "unfused optimiser": Edit("fused=True", "fused=False, foreach=False",
                              (r"kernels regressed",
                               r"why: (but )?(called more often: \S+ .* → .* per step|"
                               r"\S+.* replaced by .* per step|added: .* per step)"),
                              regressed=("step", "kernels")),
    "synchronisation": Edit("    loss.backward()\n", "    loss.item()\n    loss.backward()\n",
                            (r"step\.syncs is",)),
    "pageable copies": Edit("    optimiser.step()\n",
                            "    optimiser.step()\n    torch.empty(1 << 20).cuda()\n",
                            (r"step\.pageable_copies is",)),
    # Moves a time alone.
    "data made on the main thread": Edit('    torch.cuda.nvtx.range_push("forward")\n',
                                         '    torch.cuda.nvtx.range_push("forward")\n'
                                         '    torch.rand(1 << 22)\n',
                                         (r"idle_share",), RUN_PROCESSES, ("step", "idle_share")),
    "f32 instead of bf16": Edit('torch.autocast("cuda", dtype=torch.bfloat16)', 'torch.autocast("cuda", enabled=False)',
                                (r"gpu_time", r"why: (but )?\S+.* replaced by .* per step"), RUN_PROCESSES,
                                ("step", "gpu_time")),
}


class Folder:
    def __init__(self, path, suite):
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self.calls = len(list(path.glob("out-*")))
        for program in (tools.HERE / "programs").glob("*.py"):
            shutil.copy(program, path)
        (path / "suite.yaml").write_text(suite)
        (path / "profile.yaml").write_text(PROFILE)

    @property
    def out(self):
        """Where the last call left its documents."""
        return self.path / f"out-{self.calls}"

    def starts(self, *words):
        """What ./app is from now on: a suite with another command would be compared with nothing."""
        app = self.path / "app"
        app.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n')
        app.chmod(0o755)

    def edit(self, old, new, name="training_step.py"):
        file = self.path / name
        text = file.read_text()
        tools.expect(old in text, f"the program has {old!r}")
        file.write_text(text.replace(old, new))

    def tool(self, *words, codes=(0,), timeout=240):
        self.calls += 1
        stored = ["--baselines", self.path / "baselines"]
        if words[0] == "ab" or (words[0] != "baseline" and not stored[1].exists()):
            stored = []
        judged = ["--config", self.path / "profile.yaml"] if words[0] == "run" else []
        if words[0] == "run" and "--processes" not in words:
            judged += ["--processes", RUN_PROCESSES]
        begin = time.monotonic()
        try:
            done = tools.run([tools.PERFGATE, *words, *stored, *judged, "--out", self.out], codes, timeout=timeout)
        finally:
            tools.say(f"  {words[0]}: {time.monotonic() - begin:.1f} s, {self.out}")
        tools.say(done.stdout[-3000:])
        return done

    def cases(self, document):
        """The cases of the run's or verdict's only suite, by label."""
        read = json.loads((self.out / document).read_text())
        return {case["id"].split("/")[1].split("[")[0]: case for case in read["suites"][0]["cases"]}

    def verdicts(self, label):
        """Metric -> verdict, of the case with this label."""
        return {metric["metric"]: metric["verdict"] for metric in self.cases("verdict.json")[label]["metrics"]}


def fresh(suite, name=None):
    """A folder of its own; with a name, always the same one of what is kept."""
    if name and KEEP:
        return Folder(KEEP / name, suite)
    return Folder(pathlib.Path(tempfile.mkdtemp(prefix="perfgate-gate-", dir=KEEP)), suite)


KEEP = None  # main() sets it


def training(max_overhead="10000%", gpus=1, warmup=0, name=None):
    # A short program: CUPTI's start is a large part of it.
    return fresh(SUITE.format(python=sys.executable, max_overhead=max_overhead, gpus=gpus, warmup=warmup), name)


def refreshed(folder, processes=PROCESSES):
    folder.tool("baseline", "refresh", folder.path / "suite.yaml", "--processes", processes, timeout=420)
    return folder


@functools.cache
def baseline_of_training():
    """The training step with its baseline, measured once for all parts; or why there is none."""
    folder = training(name="training")
    if list(folder.path.glob("baselines/*/training.json")):
        tools.say(f"  the baseline is {folder.path}'s")
        return folder, None
    try:
        return refreshed(folder), None
    except Exception as failure:  # noqa: BLE001 (every part says it, none measures again)
        return folder, failure


def trained():
    folder, failure = baseline_of_training()
    if failure:
        raise tools.Failure(f"no baseline: {failure}")
    return folder


def part_unchanged():
    folder = trained()
    folder.tool("run", folder.path / "suite.yaml")
    for label in folder.cases("verdict.json"):
        tools.say(f"  {label}: {folder.verdicts(label)}")
    tools.expect(True, "an unchanged run passes")


def part_edit(name):
    folder, edit = trained(), EDITS[name]
    original = (tools.HERE / "programs/training_step.py").read_text()
    folder.edit(edit.old, edit.new)
    try:
        done = folder.tool("run", folder.path / "suite.yaml", "--processes", edit.processes, codes=(1, 3))
    finally:
        (folder.path / "training_step.py").write_text(original)
    console = " ".join(done.stdout.split())
    report = html.unescape((folder.out / "junit.xml").read_text())
    for pattern in edit.named:
        tools.expect(re.search(pattern.removeprefix("why: "), console), f"{name}: {pattern} is named")
        if pattern.startswith("why: "):
            tools.expect(re.search(pattern, report), f"{name}: {pattern} is in junit.xml")
    if edit.regressed:
        label, metric = edit.regressed
        verdict = folder.verdicts(label).get(metric)
        tools.expect(verdict == "regressed", f"{name}: {label}.{metric} is {verdict}")


def part_kernels():
    """Kernels of the cases, by themselves: their launches add up to the metric."""
    folder = training()
    folder.tool("run", folder.path / "suite.yaml", "--processes", 2)
    for label, case in folder.cases("run.json").items():
        kernels = case["kernels"]
        launches = sum(kernel["launches"] for kernel in kernels)
        counted = case["metrics"]["kernels"]["value"]
        tools.expect(abs(launches - counted) < 1e-6 * counted,
                     f"{label}: {len(kernels)} kernels with {launches:g} launches, {counted:g} counted")
        known = sum(1 for kernel in kernels if kernel.get("code"))
        tools.say(f"{label}: the machine code of {known} of {len(kernels)} kernels is known")
        tools.expect(all(kernel["time_ns"] > 0 for kernel in kernels), f"{label}: all have a time")


def part_overhead():
    """The same program with a bound that no recording keeps, and with one that every one does."""
    # The first start of a program, from the disk, would hide what recording costs it.
    folder = refreshed(training(warmup=1), COUNTED)
    folder.tool("run", folder.path / "suite.yaml")
    for label, case in folder.cases("verdict.json").items():
        notes = [note for note in case["notes"] if note.startswith("recording overhead: ")]
        tools.expect(len(notes) == 1 and " to " in notes[0], f"{label}: {notes}")
    text = (folder.path / "suite.yaml").read_text()
    # A range's own overhead has neither the program's start nor its noise.
    overheads = {label: case["metrics"]["tracing_overhead"]
                 for label, case in folder.cases("run.json").items()}
    for label, series in overheads.items():
        tools.say(f"{label}: {series['value']:+.2f} % by method {series['method']}")
    for label in ("step", "backward"):
        tools.expect(overheads[label]["method"] == "ranges", f"{label}: its own overhead")
        tools.expect(overheads[label]["value"] < overheads["flash"]["value"],
                     f"{label}: less than that of the whole process")
    (folder.path / "suite.yaml").write_text(text.replace("max_overhead: 10000%", "max_overhead: 0%"))
    folder.tool("run", folder.path / "suite.yaml", codes=(0, 3))
    step, verdicts = folder.cases("verdict.json")["step"], folder.verdicts("step")
    interval = next(note for note in step["notes"] if note.startswith("recording overhead: "))
    above = float(re.search(r"\((\S+) to", interval)[1]) > 0
    tools.say(f"with a bound of 0 %: {verdicts}; {interval}")
    tools.expect(verdicts["gpu_time"] != "invalid", "gpu_time is judged whatever recording costs")
    tools.expect((verdicts["idle_share"] == "invalid") == above, "idle_share is invalid where the interval lies above the bound")


def part_health():
    """The health set of a real step: what it is, and that a synchronisation and a pageable copy break it."""
    folder = training()
    text = (folder.path / "suite.yaml").read_text()
    text = text[:text.index("    tolerances:")] + "    health: [step]\n    tolerances: {flash.gpu_time: 50%, backward.gpu_time: 50%}\n"
    (folder.path / "suite.yaml").write_text(text)
    folder.edit("    loss.backward()\n", "    loss.item()\n    torch.empty(1 << 20).cuda()\n    loss.backward()\n")
    done = folder.tool("run", folder.path / "suite.yaml", "--processes", 1, codes=(1, 3))
    for pattern in (r"step\.syncs is \d.*\(cuda\w+ \d", r"step\.pageable_copies is", r"pinned"):
        tools.expect(re.search(pattern, " ".join(done.stdout.split())), f"{pattern} is named")
    metrics = folder.cases("run.json")["step"]["metrics"]
    for name in ("idle_share", "underfilled_share", "exposed_communication_share", "uncapturable_calls",
                 "legacy_stream_launches"):
        tools.say(f"{name}: {metrics[name]['value']:g} {metrics[name].get('detail', '')}")
    tools.expect(metrics["exposed_communication_share"]["value"] == 0, "one GPU communicates with nobody")
    tools.expect(metrics["legacy_stream_launches"]["value"] == metrics["kernels"]["value"] +
                 metrics["copies"]["value"] + metrics["memsets"]["value"],
                 "PyTorch launches everything in the legacy stream")
    tools.expect(metrics["uncapturable_calls"]["value"] >= metrics["syncs"]["value"] > 0,
                 "what waits cannot be captured")


def part_gpus():
    count = torch_devices()
    few = training(gpus=count + 1)
    done = few.tool("run", few.path / "suite.yaml", codes=(2,))
    tools.expect(f"needs {count + 1} GPUs" in done.stderr and f"has {count}" in done.stderr,
                 f"too few GPUs: {done.stderr.strip()}")
    if count < 2:
        tools.say("one GPU: no program on two")
        return
    two = fresh(STEPS.format(command=json.dumps([sys.executable, "cupy_scale.py"]), gpus=2, tolerance="5%"))
    two.edit("import cupy\n", "import cupy\n\nassert cupy.cuda.runtime.getDeviceCount() == 2\n", "cupy_scale.py")
    refreshed(two, COUNTED)
    two.tool("run", two.path / "suite.yaml", "--processes", COUNTED)
    keys = [path.name for path in (two.path / "baselines").iterdir() if path.is_dir()]
    tools.expect(len(keys) == 1 and keys[0].endswith("-x2"), f"the baseline's key is {keys}")


def gated(program, *launcher, gpus=1, tolerance="5%"):
    """Two equal checkouts pass; the one with twice the work fails, by its time or its kernels."""
    command = json.dumps([*(launcher or (sys.executable,)), program])
    suite = STEPS.format(command=command, gpus=gpus, tolerance=tolerance)
    base, head = fresh(suite), fresh(suite)
    words = ("ab", head.path / "suite.yaml", "--base", f"dir:{base.path}", "--head", f"dir:{head.path}",
             "--processes", RUN_PROCESSES)
    head.tool(*words)
    work = re.search(r"^WORK = (\d+)$", (head.path / program).read_text(), re.M)
    head.edit(work[0], f"WORK = {2 * int(work[1])}", program)
    done = head.tool(*words, codes=(1,))
    tools.expect("kernels" in done.stdout, f"{program}: twice the work is found")


def part_triton():
    gated("triton_scale.py")


def part_cupy():
    gated("cupy_scale.py")


def part_jax():
    gated("jax_scale.py")


def part_ranks():
    if torch_devices() < 2:
        tools.say("one GPU: no two ranks")
        return
    # How long an all-reduce waits for the other rank is chance.
    gated("two_ranks.py", sys.executable, "-m", "torch.distributed.run", "--standalone",
          "--nproc-per-node", "2", gpus=2, tolerance="50%")


def part_nvlink():
    """Bytes that a kernel reads of another GPU's memory, and that twice as many are found."""
    if torch_devices() < 2:
        tools.say("one GPU: nothing to read from")
        return
    program = tools.PROGRAMS / "peer_copy"
    known = json.loads(tools.run([program, 1]).stdout)["read_bytes"]
    folder = fresh(NVLINK.format())
    folder.starts(program, 1)
    folder.tool("run", folder.path / "suite.yaml", "--processes", 1, codes=(0, 3, 4))
    counted = counters_of(folder).get(("read", "nvlink_bytes"), 0)
    tools.expect(known <= counted <= 1.4 * known, f"{counted:.10g} bytes, {counted / known:.3f} of what is read")
    refreshed(folder, 2)
    folder.tool("run", folder.path / "suite.yaml", "--processes", 2)
    folder.starts(program, 2)
    folder.tool("run", folder.path / "suite.yaml", "--processes", 2, codes=(1,))
    counters_of(folder)
    verdict = folder.verdicts("read").get("nvlink_bytes")
    tools.expect(verdict == "regressed", f"twice the work: nvlink_bytes is {verdict}")


def torch_devices():
    return int(subprocess.run([sys.executable, "-c", "import torch; print(torch.cuda.device_count())"],
                              capture_output=True, text=True, check=True).stdout)


def part_ab():
    base, head = training(), training()
    words = ("ab", head.path / "suite.yaml", "--base", f"dir:{base.path}", "--head", f"dir:{head.path}", "--processes")
    head.tool(*words, RUN_PROCESSES, timeout=420)
    tools.expect(True, "two equal checkouts pass")
    head.edit(*EDITS["flash attention off"][:2])
    head.tool(*words, 1, codes=(1, 3))
    tools.expect(True, "flash attention switched off is found")


def part_ab_cpp():
    """Two versions of the C++ program: the same passes, a kernel that takes a tenth longer is found."""
    # Both have the same machine code: what the slower one passes to it is not compared.
    folder = fresh(GRAPHS.format(program="./program").replace("    name: graphs", "    name: graphs\n    code: false"))
    for side, version in (("base", "streams_and_graphs"), ("same", "streams_and_graphs"), ("head", "streams_and_graphs_slower")):
        (folder.path / side).mkdir()
        shutil.copy(folder.path / "suite.yaml", folder.path / side)
        shutil.copy(tools.PROGRAMS / version, folder.path / side / "program")
    for head, codes in (("same", (0,)), ("head", (1,))):
        folder.tool("ab", folder.path / head / "suite.yaml", "--base", "dir:" + str(folder.path / "base"), "--head",
                    f"dir:{folder.path / head}", "--processes", PROCESSES, codes=codes)
        tools.say(f"  {head}: {folder.verdicts('spin')}")
    tools.expect(folder.verdicts("spin")["gpu_time"] == "regressed", "spin.gpu_time regressed")


def part_sensors():
    """Parts of a program, launches by their size, memory, stacks and environments."""
    program = tools.PROGRAMS / "two_sensors"
    known = json.loads(tools.run([program, 16]).stdout)

    def suite(capture="profiler_api", launches=known["steps"]):
        return SENSORS.format(capture=capture, launches=launches)

    folder = fresh(suite())
    folder.starts(program, 16, "flat")
    for capture, launches in (("{range: measured}", known["steps"]),
                              (f"{{after_launches: {known['before']}}}", known["steps"] + known["after"])):
        (folder.path / "suite.yaml").write_text(suite(capture, launches))
        folder.tool("run", folder.path / "suite.yaml", "--processes", 1, codes=(0, 4))
        tools.expect(True, f"capture: {capture} has {launches} launches of camera's size")
    (folder.path / "suite.yaml").write_text(suite())
    refreshed(folder)
    folder.tool("run", folder.path / "suite.yaml")
    cases = folder.cases("run.json")
    for label in ("step", "program"):
        value = cases[label]["metrics"]["memory_peak"]["value"]
        tools.expect(value == known["memory_peak"], f"{label}.memory_peak is {value:.10g}, known {known['memory_peak']}")
    times = {label: cases[label]["metrics"]["gpu_time"]["value"] for label in ("camera", "lidar")}
    tools.expect(times["camera"] != times["lidar"], f"two cases of one kernel: {times}")

    for changed, label, metric in (((17, "flat"), "step", "memory_peak"), ((16, "deep"), "camera", "stack")):
        folder.starts(program, *changed)
        folder.tool("run", folder.path / "suite.yaml", "--processes", 1, codes=(1, 3))
        verdict = folder.verdicts(label).get(metric)
        tools.expect(verdict == "regressed", f"{changed}: {label}.{metric} is {verdict}")

    folder.starts(program, 16, "flat")
    for base, head, codes in (("LIDAR_WORK=1", "UNREAD=1", (0,)), ("LIDAR_WORK=1", "LIDAR_WORK=2", (1,))):
        folder.tool("ab", folder.path / "suite.yaml", "--base", f"env:{base}", "--head", f"env:{head}", "--processes", PROCESSES,
                    codes=codes)
    found = {label: folder.verdicts(label)["gpu_time"] for label in times}
    tools.expect(found == {"camera": "pass", "lidar": "regressed"}, f"with twice lidar's work: {found}")


def counters_of(folder):
    """The counters of the run, by label and metric; prints all, as ncu would be asked for them."""
    values = {}
    for label, case in folder.cases("run.json").items():
        tools.say(f"{label}: {case['status']} {case.get('reason', '')}")
        for name, series in case["metrics"].items():
            if not series["method"].startswith("counter/"):
                continue
            values[label, name] = series["value"]
            samples = [value for batch in series.get("batches", []) for value in batch["samples"]]
            tools.say(f"  {name}: {series['value']:.10g} {series['unit']}, launches {samples}")
        for missing in case.get("not_collected", []):
            tools.say(f"  {missing['metric']} not collected: {missing['reason']}")
    return values


def part_counters():
    """Counters of kernels whose work is known, alone on the GPU; and that twice the work is found."""
    program = tools.PROGRAMS / "counted_kernels"
    known = json.loads(tools.run([program, 1]).stdout)
    tools.say(f"the program states {known}; compare with ncu --metrics NAME.sum {program} 1")
    folder = fresh(COUNTERS.format())
    folder.starts(program, 1)
    folder.tool("run", folder.path / "suite.yaml", "--processes", 2, codes=(0, 3, 4))
    values = counters_of(folder)
    for process in sorted((folder.out / "commands").glob("*/*.stderr")):
        if process.stat().st_size:
            tools.say(f"{process.name}: {process.read_text()[-500:]}")
    moved = known["copied_bytes"]
    for label, name, expected, share in (("copy", "dram_bytes", 2 * moved, 0.05), ("copy", "dram_read_bytes", moved, 0.03),
                                         ("copy", "load_bytes", moved, 0), ("copy", "sectors_per_request_load", 16, 0),
                                         ("add", FMA, known["multiply_adds"], 0), ("add", "warp_efficiency", 100, 0.001)):
        value = values.get((label, name))
        tools.expect(value is not None, f"{label}.{name} was collected")
        tools.expect(abs(value - expected) <= share * expected, f"{label}.{name} is {value:.10g}, known {expected:.10g}")
    # What runs beside it moves a gigabyte in a step.
    tools.expect(values["add", "dram_bytes"] < 0.05 * moved, f"add is counted alone: {values['add', 'dram_bytes']:.10g} bytes")
    folder.tool("baseline", "refresh", folder.path / "suite.yaml", "--processes", 2)
    folder.tool("run", folder.path / "suite.yaml", "--processes", 2)
    tools.expect(True, "unchanged passes")
    folder.starts(program, 2)
    folder.tool("run", folder.path / "suite.yaml", "--processes", 2, codes=(1,))
    counters_of(folder)
    for label, name in (("copy", "dram_bytes"), ("copy", "instructions"), ("add", "instructions"), ("add", FMA)):
        verdict = folder.verdicts(label).get(name)
        tools.expect(verdict == "regressed", f"twice the work: {label}.{name} is {verdict}")

    folder = fresh(GRAPH_COUNTERS.format(program=tools.PROGRAMS / "streams_and_graphs"))
    folder.tool("run", folder.path / "suite.yaml", "--processes", 1, codes=(3,))
    values = counters_of(folder)
    tools.expect(("spin", "instructions") in values, "spin, outside of the graph, is counted")
    reasons = [each["reason"] for each in folder.cases("run.json")["node"].get("not_collected", [])]
    tools.expect(any("CUDA graph" in reason for reason in reasons), f"node is refused: {reasons}")


def part_benchmark_kernels():
    """What a benchmark reports and its kernels in one suite: unchanged passes, twice the work is found in both."""
    program = tools.PROGRAMS / "counted_kernels"

    folder = fresh(BENCHMARK.format())
    folder.starts(sys.executable, "bench.py", program, 1)
    (folder.path / "bench.py").write_text(BENCH)
    refreshed(folder)
    folder.tool("run", folder.path / "suite.yaml")
    cases = folder.cases("run.json")
    tools.expect(list(cases) == ["whole", "copy", "add", "step"], f"the cases are {list(cases)}")
    known = json.loads(tools.run([program, 1]).stdout)
    for label, metric, expected in (("whole", "copied", known["copied_bytes"]), ("step", "kernels", 2)):
        value = cases[label]["metrics"][metric]["value"]
        tools.expect(value == expected, f"{label}.{metric} is {value:.10g}, known {expected}")
    tools.expect(("add", "instructions") in counters_of(folder), "add.instructions was collected")
    tools.expect("copy_bytes" in str(cases["copy"]["kernels"]), "the kernels of copy are listed")
    folders = sorted(path.name.rpartition("-")[0] for path in (folder.out / "commands").iterdir())
    tools.expect(folders == ["bench", "bench-recorded"], f"outputs are in {folders}")
    folder.starts(sys.executable, "bench.py", program, 2)
    folder.tool("run", folder.path / "suite.yaml", codes=(1,))
    for label, metric in (("whole", "copied"), ("copy", "gpu_time"), ("add", "gpu_time"), ("add", "instructions")):
        verdict = folder.verdicts(label).get(metric)
        tools.expect(verdict == "regressed", f"twice the work: {label}.{metric} is {verdict}")


def nvbench_suite():
    lines = ["name: nvbench", "workloads:"]
    for name, benchmarks in NVBENCH.items():
        chosen = [word for each in benchmarks for word in ("--benchmark", each)]
        command = [f"./{name}", "--devices", "0", "--no-batch", "--stopping-criterion", "sample-count",
                   "--target-samples", "50", *chosen, "--jsonbin", "{out}"]
        lines += [f"  - benchmark: {json.dumps(command)}", f"    name: {name}", "    format: nvbench",
                  f"    tolerances: {{real_time: {NVBENCH_TOLERANCES.get(name, '1.5%')}}}"]
    return "\n".join(lines) + "\n"


def part_nvbench():
    """nvbench's own examples: ten unchanged runs pass, and 3 % more work is found where there is any."""
    programs = os.environ.get("PERFGATE_NVBENCH")
    tools.expect(programs, "PERFGATE_NVBENCH names a folder with base and slow")
    folder = fresh(nvbench_suite())
    # One path for both sides, as after a build.
    shutil.copytree(pathlib.Path(programs) / "base", folder.path, dirs_exist_ok=True)
    refreshed(folder, NVBENCH_PROCESSES)
    flagged = collections.Counter()
    for _ in range(NVBENCH_RUNS):
        done = folder.tool("run", folder.path / "suite.yaml", codes=(0, 1, 3))
        flagged[f"exit {done.returncode}"] += 1
        for case, verdict in real_times(folder):
            flagged[verdict] += 1
            if verdict != "pass":
                tools.say(f"  {case}: {verdict}")
    tools.say(f"unchanged: {dict(flagged)}")
    shutil.copytree(pathlib.Path(programs) / "slow", folder.path, dirs_exist_ok=True)
    folder.tool("run", folder.path / "suite.yaml", codes=(1,))
    slowed, others = collections.Counter(), collections.Counter()
    for case, verdict in real_times(folder):
        known = others if any(word in case for word in UNSLOWED) else slowed
        known[verdict] += 1
        if verdict != ("regressed" if known is slowed else "pass"):
            tools.say(f"  {case}: {verdict}")
    tools.say(f"3 % more: {dict(slowed)}; the others: {dict(others)}")
    tools.expect(flagged["exit 0"] == NVBENCH_RUNS, "ten unchanged runs pass")
    tools.expect(2 * slowed["regressed"] > slowed.total() and not others["regressed"], "3 % more work is found in more than half")


def real_times(folder):
    """Ids of the cases that have a real_time, with its verdict."""
    for case in json.loads((folder.out / "verdict.json").read_text())["suites"][0]["cases"]:
        for metric in case["metrics"]:
            if metric["metric"] == "real_time":
                yield case["id"], metric["verdict"]


def part_torch_counters():
    """Flash attention inside of PyTorch, which brings its own CUPTI."""
    folder = fresh(TORCH_COUNTERS.format(python=sys.executable))
    folder.tool("run", folder.path / "suite.yaml", "--processes", 1, codes=(0, 3, 4))
    values = counters_of(folder)
    for name in ("instructions", "dram_bytes", "tensor_instructions", "l2_hit_rate", "occupancy"):
        tools.expect(values.get(("flash", name), 0) > 0, f"flash.{name} was collected")


def part_graphs():
    folder = refreshed(fresh(GRAPHS.format(program=tools.PROGRAMS / "streams_and_graphs")))
    folder.tool("run", folder.path / "suite.yaml")
    tools.expect(True, "graphs, streams and copies pass")


# A recorded process with a context and a fork of it, which has its parent's mappings and open files.
FORKED = """
import ctypes, os, time
cuda = ctypes.CDLL("libcuda.so.1")
context, memory = ctypes.c_void_p(), ctypes.c_uint64()
for code in (cuda.cuInit(0), cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0), cuda.cuCtxSetCurrent(context),
             cuda.cuMemAlloc_v2(ctypes.byref(memory), 4096), cuda.cuMemsetD8_v2(memory, 0, 4096)):
    assert code == 0, code
if os.fork() == 0:
    time.sleep(2)
    os._exit(0)
os.wait()
"""


def part_silent():
    """A child that is started without the environment, and what only looks like one."""
    program = tools.PROGRAMS / "streams_and_graphs"
    folder = fresh(GRAPHS.format(program="./app"))

    def starts(*children):
        app = folder.path / "app"
        app.write_text("#!/bin/sh\n" + "\n".join([shlex.quote(str(program)), *children]) + "\n")
        app.chmod(0o755)

    def notes():
        return str([case.get("notes") for case in folder.cases("run.json").values()])

    starts()
    refreshed(folder, COUNTED)
    # These open the device, and one maps the driver's library.
    bare = 'env -i ${LD_LIBRARY_PATH:+LD_LIBRARY_PATH="$LD_LIBRARY_PATH"}'
    starts(f"{bare} {shutil.which('nvidia-smi')}", f"{bare} {shutil.which('nvidia-smi')} --query-gpu=name --format=csv")
    folder.tool("run", folder.path / "suite.yaml", "--processes", COUNTED)
    tools.expect("left no recording" not in notes(), "nvidia-smi does no work")
    silent = f"{bare} {shlex.quote(str(program))}"
    for child in (silent, f"setsid {silent}", f"({silent}) & wait"):
        starts(child)
        folder.tool("run", folder.path / "suite.yaml", "--processes", COUNTED, codes=(3,))
        for label, case in folder.cases("verdict.json").items():
            tools.expect(case["verdict"] == "invalid", f"{child}: {label} is {case['verdict']}: {case.get('reason')}")
        tools.expect("left no recording" in notes() and "streams_and_graphs" in notes(), f"noted: {notes()}")
    for child in (silent.replace("env -i", "env", 1), shlex.join([sys.executable, "-c", FORKED])):
        starts(child)
        folder.tool("run", folder.path / "suite.yaml", "--processes", 1, codes=(1, 3))
        tools.expect("left no recording" not in notes(), f"recorded: {child.split()[0]}")
    loose = re.sub(r"gpu_time: \d+%", "gpu_time: 5000%", GRAPHS.format(program="./app"))
    (folder.path / "suite.yaml").write_text(loose)
    starts(silent)
    folder.tool("run", folder.path / "suite.yaml", "--processes", 1, codes=(0, 4))
    tools.expect("left no recording" in notes(), "within the tolerance it is noted")
    done = tools.run([tools.PERFGATE, "profile", "--quiet", "--", folder.path / "app"])
    tools.expect("left no recording" in done.stdout + done.stderr, "profile notes it")


def part_replays():
    """A graph that is replayed, and the same kernels launched one by one."""
    folder = refreshed(fresh(REPLAYS.format(python=sys.executable)), COUNTED)
    folder.tool("run", folder.path / "suite.yaml", "--processes", COUNTED)
    folder.edit("graph.replay()", "decode()", "decode_graph.py")
    done = folder.tool("run", folder.path / "suite.yaml", "--processes", 1, codes=(1, 3))
    for pattern in (r"step\.graph_launches is 0", r"launched one by one instead of in a graph"):
        tools.expect(re.search(pattern, " ".join(done.stdout.split())), f"{pattern} is named")


def chosen_parts(words):
    """What is to be done, one after the other: pairs of a name and a function. Raises ValueError of an unknown word."""
    parts = {name[5:]: part for name, part in globals().items() if name.startswith("part_")}
    parts.pop("edit")
    for word in words or ["unchanged", "edits", *(name for name in parts if name != "unchanged")]:
        name, _, detail = word.partition(":")
        if name == "unchanged":
            for number in range(int(detail or UNCHANGED_RUNS)):
                yield f"unchanged {number + 1}", part_unchanged
        elif name == "edits":
            if detail and detail not in EDITS:
                raise ValueError(f"no such edit: {detail}; there are: {', '.join(EDITS)}")
            for edit in [detail] if detail else EDITS:
                yield edit, functools.partial(part_edit, edit)
        elif name in parts and not detail:
            yield name, parts[name]
        else:
            raise ValueError(f"no such part: {word}")


def main():
    global KEEP
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR")
    chosen = parser.parse_args()
    try:
        parts = list(chosen_parts(chosen.parts))
    except ValueError as wrong:
        parser.error(str(wrong))
    if chosen.keep:
        KEEP = chosen.keep.resolve()
        KEEP.mkdir(parents=True, exist_ok=True)
    if {name for name, _ in parts} == {"silent"}:
        has_device = subprocess.run(["nvidia-smi"], capture_output=True).returncode == 0 if shutil.which("nvidia-smi") \
            else False
    else:
        has_device = tools.has_torch()
    return tools.run_parts(parts) if has_device else 77


if __name__ == "__main__":
    sys.exit(main())
