# SPDX-License-Identifier: Apache-2.0
"""On a GPU: whether the line that got slower is named, and what ncu says of it: lines_study.py [PART...] [--keep FOLDER] [--seconds N].

    edits   15 edits in CUDA C++, each with three changed places or more: which line is named
    triton  two edits in kernels of Triton
    programs  three of the edits in programs of nvcc's, and one in a program with Triton
    equal   ten pairs that differ in their text alone: no difference may be reported
    ncu     shares of samples and executions per instruction of the kernels of `edits`, beside ncu's of the same machine code

Ends with 1 if a wrong line is named, less than 12 of 15 right ones, of programs less than 3 of 4, an equal pair differs, or ncu has other executions or shares (by more than
3 points). Environment: PERFGATE, NCU, CUDA_HOME."""

import argparse
import collections
import csv
import glob
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import lines_study_kernels as kernels

PERFGATE = pathlib.Path(os.environ["PERFGATE"]).resolve()
CUDA = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
START = time.monotonic()
HEAD = "name: {}\ndefaults: {{metrics: [gpu_time], time_budget: 40 ms, tolerances: {{gpu_time: 3%}}}}\nworkloads:\n"
LAUNCHES = 10  # of each kernel, for ncu


def say(text):
    print(f"[{time.monotonic() - START:5.1f} s] {text}", flush=True)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_sides(name, suffix, base, head):
    write(pathlib.Path("base", name + suffix), base)
    write(pathlib.Path("head", name + suffix), head)


def source(name, kernel):
    return (f"  - source: {name}.cu\n    kernel: {name}\n    launch: {{grid: \"{kernel.grid}\", block: {kernel.block}}}\n"
            f"    arguments: {kernel.arguments}\n    matrix: {{n: [{kernels.N}]}}\n")


def compared(name, suite, head=HEAD):
    """The run's cases with their verdicts, and code.json, of two processes a side, which say that they are too few to decide."""
    for side in ("base", "head"):
        write(pathlib.Path(side, name + ".yaml"), head.format(name) + suite)
    out = pathlib.Path("out", name).resolve()
    words = [PERFGATE, "ab", name + ".yaml", "--backend", "cuda", "--base", f"dir:{pathlib.Path('base').resolve()}",
             "--processes", "2", "--set", "rounds=0", "--out", out]
    with subprocess.Popen(words, cwd="head", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        try:
            errors = running.communicate(timeout=options.seconds)[1]
        except subprocess.TimeoutExpired:
            say(f"  not done after {options.seconds:.0f} s: interrupted")
            running.send_signal(signal.SIGINT)
            errors = running.communicate()[1]
    for line in errors.splitlines():
        if "machine code and" in line or "warning" in line:
            say("  " + line[:300])
    documents = []
    for file in ("run", "verdict", "code"):
        try:
            documents.append(json.loads((out / f"{file}.json").read_text()))
        except OSError:
            documents.append(None)
    run, verdict, code = documents
    if not run or not verdict:
        raise RuntimeError(f"exit code {running.returncode}: {errors[-1500:]}")
    cases = run["suites"][0]["cases"]
    for case, its in zip(cases, verdict["suites"][0]["cases"]):
        case["verdict"], case["changed"] = its["verdict"], its.get("code")
    return cases, code or {}


def judged(cases, suffix):
    """Which lines are named: counts of right, wrong and none."""
    marks = collections.Counter()
    for case in cases:
        name = case["id"].split("/")[0].split("[")[0]
        slow = kernels.slow_lines(pathlib.Path("head", name + suffix).read_text())
        found = case.get("machine_code")
        place = (found or {}).get("place")
        right = place and place["line"] in slow and pathlib.Path(place["file"]).name == name + suffix
        mark = "none" if not place else "right" if right else "WRONG"
        if not found:
            mark = "no code"  # it is not slower, or not launched otherwise
        marks[mark] += 1
        say(f"  {name:13} {case['verdict']:12} {mark:7} {place and place['line']} of {slow}")
        for what in ("time", "change"):
            sentence = (found or {}).get(what, "")
            if sentence:
                say("      " + (sentence if len(sentence) < 260 else sentence[:90] + " [...] " + sentence[-160:]))
    say(f"  {dict(marks)}")
    return marks


def problems_of(code):
    for side in ("cases", "base"):
        for case in code.get(side, []):
            for key in ("problem", "sampling_problem", "counting_problem"):
                if case.get(key):
                    say(f"  {side} {case['case']}: {key}: {case[key][:200]}")
    seconds = [case.get("seconds", 0) for side in ("cases", "base") for case in code.get(side, [])]
    say(f"  seconds of a case: {[round(each, 1) for each in seconds]}")


# --- parts

def part_edits():
    chosen = {name: kernel for name, kernel in kernels.EDITS.items() if not options.edits or name in options.edits}
    for name, kernel in chosen.items():
        write_sides(name, ".cu", kernels.side(kernel.text, "-"), kernels.side(kernel.text, "+"))
    cases, code = compared("edits", "".join(source(name, kernel) for name, kernel in chosen.items()))
    problems_of(code)
    marks = judged(cases, ".cu")
    return marks["WRONG"] == 0 and marks["right"] >= 0.8 * len(chosen)


def part_triton():
    for name, text in kernels.TRITON.items():
        write_sides(name, ".py", kernels.side(text, "-"), kernels.side(text, "+"))
    cases, code = compared("triton", "".join(f"  - {{python: {name}.py, interpreter: {sys.executable}}}\n" for name in kernels.TRITON))
    problems_of(code)
    return judged(cases, ".py")["WRONG"] == 0


def program_of(name, kernel, text):
    """The kernel with a main function behind it that launches it 300 times."""
    launch = launch_of(name, kernel, "")
    lines = [text, "#include <cstdlib>", "#include <vector>", "int main() {"]
    for i, each in enumerate(launch["arguments"]):
        kind = C_TYPES[each["type"]]
        if "size" not in each:
            lines.append(f"{kind} a{i} = {each['value']};")
            continue
        value = "k" if each["iota"] else "(rand() % 2001 - 1000) / 1000.0"
        lines += [f"std::vector<{kind}> h{i}({each['size']});", f"for (size_t k = 0; k < h{i}.size(); ++k) h{i}[k] = {kind}({value});",
                  f"{kind}* a{i};", f"cudaMalloc(&a{i}, h{i}.size() * sizeof({kind}));",
                  f"cudaMemcpy(a{i}, h{i}.data(), h{i}.size() * sizeof({kind}), cudaMemcpyHostToDevice);"]
    arguments = ", ".join(f"a{i}" for i in range(len(launch["arguments"])))
    lines += [f"for (int k = 0; k < 300; ++k) {name}<<<{launch['grid']}, {launch['block']}>>>({arguments});",
              "return cudaDeviceSynchronize() != cudaSuccess;", "}"]
    return "\n".join(lines) + "\n"


TRITON_MAIN = """
n = 2**22
x, out = (torch.rand(n, device="cuda") for _ in range(2))
for _ in range(200):
    triton_gather_kernel[(n // 1024,)](x, out, n, BLOCK=1024)
torch.cuda.synchronize()
"""


def part_programs():
    suite = ""
    for name in ("moved", "constant", "bank"):
        kernel, program = kernels.EDITS[name], name + "_app"
        write_sides(program, ".cu", *(program_of(name, kernel, kernels.side(kernel.text, mark)) for mark in "-+"))
        for side in ("base", "head"):
            file = pathlib.Path(side, program).resolve()
            subprocess.run([CUDA / "bin/nvcc", "-arch=native", "-lineinfo", "-o", file, f"{file}.cu"], check=True)
        suite += f"  - {{command: [./{program}], name: {program}, measure: {{k: {{kernel: {name}}}}}, tolerances: {{k.gpu_time: 3%}}}}\n"
    text = kernels.TRITON["triton_gather"].replace("import perfgate, ", "import ").split(" @perfgate.workload")[0]
    write_sides("triton_app", ".py", *(kernels.side(text, mark) + TRITON_MAIN for mark in "-+"))
    suite += (f"  - {{command: [{sys.executable}, triton_app.py], name: triton_app, measure: {{k: {{kernel: triton_gather_kernel}}}},"
              " tolerances: {k.gpu_time: 3%}}\n")
    cases, code = compared("programs", suite, "name: {}\nworkloads:\n")
    problems_of(code)
    marks = judged([case for case in cases if "triton" not in case["id"]], ".cu")
    marks += judged([case for case in cases if "triton" in case["id"]], ".py")
    return marks["WRONG"] == 0 and marks["right"] >= 3


def part_equal():
    base = kernels.side(kernels.EQUAL, "-")
    suite = ""
    for name, change in kernels.EQUALS.items():
        text = base.replace("NAME", name)
        write_sides(name, ".cu", text, change(text))
        suite += source(name, kernels.Kernel(kernels.OUT_IN, "n / 256", 256, ""))
    cases, code = compared("equal", suite)
    # The compiler may make other code of an equal text; then the difference is said, and true.
    for case in cases:
        say(f"  {case['id']:40} {case['verdict']:12} code {case['changed']}")
    return not code.get("cases") and all(case["verdict"] == "pass" for case in cases)


LAUNCHER = """
import json, sys
import cupy, numpy
from cupy.cuda import runtime
kernels, launches = json.loads(sys.argv[1]), int(sys.argv[2])
larger_than_l2 = cupy.zeros(runtime.getDeviceProperties(0)["l2CacheSize"] * 5 // 8, dtype="float32")  # as perfgate: 2.5 times
random = numpy.random.default_rng(1).uniform(-1, 1, max(each.get("size", 0) for kernel in kernels for each in kernel["arguments"]))
for kernel in kernels:
    function = cupy.RawModule(path=kernel["file"]).get_function(kernel["name"])
    arguments = []
    for each in kernel["arguments"]:
        if "size" not in each:
            arguments.append(numpy.dtype(each["type"]).type(each["value"]))
        elif each["iota"]:
            arguments.append(cupy.arange(each["size"], dtype="uint32").astype(each["type"]))
        else:
            arguments.append(cupy.asarray(random[:each["size"]].astype(each["type"])))
    def launch(times):
        for _ in range(times):
            larger_than_l2.sum()
            function((kernel["grid"],), (kernel["block"],), tuple(arguments))
            runtime.deviceSynchronize()
    launch(100)  # until the clocks are up
    runtime.profilerStart()
    launch(launches)
    runtime.profilerStop()
"""
C_TYPES = {"float32": "float", "int32": "int", "uint32": "unsigned", "uint8": "unsigned char"}
NUMPY = {"f32": "float32", "i32": "int32", "u32": "uint32", "u8": "uint8"}
# perfgate samples launches with a cold L2 as they are: ncu repeats the program for its passes, not the kernel.
NCU_RUNS = {name: ["--replay-mode", "application", "--cache-control", "none"] for name in ("ncu", "ncu again")}
MOST_POINTS = 3


def numbers(text):
    return int(eval(text, {"__builtins__": {}}, {"n": kernels.N}))  # of this study's own kernels


def launch_of(name, kernel, file):
    arguments = []
    for each in re.findall(r"\{([^}]*)\}", kernel.arguments):
        fields = [[part.strip(' "') for part in field.split(":")] for field in each.split(",")]
        kind, value = fields[0]
        if len(fields) > 1:
            rest = dict(fields[1:])
            arguments.append({"type": NUMPY[value], "size": numbers(rest["size"].replace("/", "//")), "iota": rest.get("fill") == "iota"})
        else:
            arguments.append({"type": NUMPY[kind], "value": kernels.N if value == "n" else float(value)})
    return {"name": name, "file": str(file), "grid": numbers(kernel.grid.replace("/", "//")), "block": kernel.block, "arguments": arguments}


def opcode(text):
    """As ncu and nvdisasm have it."""
    return next((word for word in text.split() if not word.startswith("@")), "NOP").rstrip(";")


def column(header, *begins):
    return next((at for begin in begins for at, name in enumerate(header) if name.startswith(begin)), None)


def counted(text):
    return float(text.replace(",", "") or 0)


def ncu_tables(text):
    """Of what ncu prints, by the opcodes of a kernel without NOPs: for each launch its samples and executions by instruction."""
    tables, found = [], collections.defaultdict(list)
    for row in csv.reader(line for line in text.splitlines() if line.startswith('"')):
        if "Source" in row or "SASS" in row:
            at = column(row, "Source", "SASS")
            samples = column(row, "Warp Stall Sampling (All", "# Samples", "Samples")
            executed = column(row, "# Instructions Executed", "Instructions Executed", "inst_executed")
            if samples is None or executed is None:
                raise ValueError(f"no samples or no executions in ncu's columns {row[:20]}")
            tables.append(([], [], []))
        elif tables and len(row) > max(at, samples, executed) and opcode(row[at]) != "NOP":
            for values, value in zip(tables[-1], (opcode(row[at]), counted(row[samples]), counted(row[executed]))):
                values.append(value)
    for opcodes, samples, executed in tables:
        found[tuple(opcodes)].append((samples, executed))
    return found


def shares(samples):
    return [each / (sum(samples) or 1) for each in samples]


def apart(ours, theirs):
    """The largest difference of two lists of samples in points, its standard error if samples were independent, and its place."""
    p, q = shares(ours), shares(theirs)
    at = max(range(len(p)), key=lambda i: abs(p[i] - q[i]))
    error = sum(share * (1 - share) / (sum(of) or 1) for share, of in ((p[at], ours), (q[at], theirs))) ** 0.5
    return 100 * (p[at] - q[at]), 100 * error, at


def compare(kernel, runs):
    """Whether a kernel of code.json has the executions and shares of ncu's runs: {name of the run: launches}."""
    instructions = kernel["instructions"]
    ours = [sum(each.get("samples", {}).values()) for each in instructions]
    sums = {name: [sum(of) for of in zip(*(samples for samples, _ in launches))] for name, launches in runs.items()}
    first = next(iter(sums))
    points, error, at = apart(ours, sums[first])
    text = f"  {kernel['name'].split('(')[0]:10} {sum(ours)} samples of {kernel.get('launches')} launches, ncu {sum(sums[first]):.0f} of {len(runs[first])}"
    text += f": at worst {points:+.1f} ± {error:.1f} points at 0x{instructions[at]['at']:x} {instructions[at]['text'][:40]}"
    for name in list(sums)[1:]:
        text += f"; {name} - {first} {apart(sums[name], sums[first])[0]:+.1f}, ours - {name} {apart(ours, sums[name])[0]:+.1f}"
    executed = runs[first][0][1]
    # CUPTI counts no instruction behind the end, which ncu lists with 0.
    others = [i for i, each in enumerate(instructions) if each.get("executed", 0) != executed[i]]
    text += f"; executions equal at {len(executed) - len(others)} of {len(executed)}"
    if others:
        text += ", first other " + str((instructions[others[0]]["text"][:30], instructions[others[0]].get("executed"), executed[others[0]]))
    say(text)
    worst = sorted(range(len(ours)), key=lambda i: -abs(shares(ours)[i] - shares(sums[first])[i]))[:3]
    for i in worst if abs(points) > MOST_POINTS else ():
        say(f"      0x{instructions[i]['at']:x} {instructions[i]['text'][:40]}: ours {100 * shares(ours)[i]:.1f} %, " +
            ", ".join(f"{name} {100 * shares(of)[i]:.1f} %" for name, of in sums.items()))
    return not others and abs(points) <= MOST_POINTS


def part_ncu():
    ncu = os.environ.get("NCU") or shutil.which("ncu") or next(iter(sorted(
        glob.glob(f"{CUDA}/bin/ncu") + glob.glob("/opt/nvidia/nsight-compute/*/ncu"))), None)
    if not ncu:
        say("  there is no ncu")
        return True
    code = json.loads(pathlib.Path("out/edits/code.json").read_text())  # of the part edits
    ours = {kernel["name"].split("(")[0]: kernel for case in code["cases"] for kernel in case.get("kernels", [])}
    cubins = {path: path.read_bytes() for path in pathlib.Path("out/edits/sources").glob("*.cubin")}  # what perfgate launched
    launches = []
    for name in ours:
        file = next((path for path, content in cubins.items() if f".text.{name}\0".encode() in content), None)
        if file is None:
            say(f"  no machine code of {name} was kept")
            return False
        launches.append(launch_of(name, kernels.EDITS[name], file))
    write(pathlib.Path("launcher.py"), LAUNCHER)
    tables = {}
    for name, words in NCU_RUNS.items():
        for interval in ("--warp-sampling-interval", "--sampling-interval"):  # the option's name changed
            done = subprocess.run(
                [ncu, "--section", "SourceCounters", "--clock-control", "none", "--profile-from-start", "off", *words, interval, "6",  # 2^(5 + 6)
                 "--page", "source", "--print-source", "sass", "--csv", "-k", "regex:^(" + "|".join(ours) + ")$", sys.executable,
                 "launcher.py", json.dumps(launches), str(LAUNCHES)], capture_output=True, text=True, timeout=120)
            if "unrecognised option" not in done.stdout + done.stderr:
                break
        write(pathlib.Path(f"{name}.csv"), done.stdout)
        tables[name] = ncu_tables(done.stdout)
        say(f"  {name}: {len(tables[name])} kernels, {sum(map(len, tables[name].values()))} launches")
        if not tables[name]:
            say("  " + " ".join((done.stdout + done.stderr).split())[-600:])
    tables = {name: table for name, table in tables.items() if table}
    passed = len(tables) == len(NCU_RUNS)
    for name, kernel in ours.items():
        opcodes = tuple(opcode(each["text"]) for each in kernel["instructions"])
        runs = {run: table[opcodes] for run, table in tables.items() if opcodes in table}
        if runs:
            passed = compare(kernel, runs) and passed
            continue
        passed = False
        near = max((key for table in tables.values() for key in table), default=(),
                   key=lambda key: sum(one == other for one, other in zip(key, opcodes)))
        say(f"  {name}: {len(opcodes)} instructions, of ncu's kernels the nearest has {len(near)}: " +
            str([pair for pair in zip(opcodes, near) if pair[0] != pair[1]][:3]))
    return passed


PARTS = {name[5:]: part for name, part in list(globals().items()) if name.startswith("part_")}


def main(parts):
    passed = True
    for part in parts:
        say(part)
        try:
            passed = PARTS[part]() and passed
        except Exception as error:  # the other parts do not need it
            say(f"  failed: {type(error).__name__}: {error}")
            passed = False
    return 0 if passed else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--edits", nargs="*", help="of the part edits, these alone")
    parser.add_argument("--keep", type=pathlib.Path, help="work in this folder and leave it")
    parser.add_argument("--seconds", type=float, default=300, help="interrupt a comparison after this time")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}")
    if not os.path.exists("/dev/nvidiactl"):
        print("skipped: no NVIDIA GPU on this machine (/dev/nvidiactl is absent)")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="perfgate-") as folder:
        at = options.keep or pathlib.Path(folder)
        at.mkdir(parents=True, exist_ok=True)
        os.chdir(at)
        sys.exit(main(options.parts or PARTS))
