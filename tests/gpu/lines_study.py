# SPDX-License-Identifier: Apache-2.0
"""On a GPU: whether the line that got slower is named, and what ncu says of it: lines_study.py [PART...] [--keep FOLDER] [--seconds N].

    edits   15 edits in CUDA C++, each with three changed places or more: which line is named
    triton  two edits in kernels of Triton
    equal   ten pairs that differ in their text alone: no difference may be reported
    ncu     shares of samples and executions per instruction of the kernels of `edits`, beside ncu's

Ends with 1 if a wrong line is named, less than 12 of 15 right ones, or an equal pair differs. Environment: PERFGATE, NCU, CUDA_HOME."""

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
LAUNCHES = 3  # of each kernel, for ncu


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


def compared(name, suite):
    """The run's cases with their verdicts, and code.json, of two processes a side, which say that they are too few to decide."""
    for side in ("base", "head"):
        write(pathlib.Path(side, name + ".yaml"), HEAD.format(name) + suite)
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


LAUNCHER = '''
import json, sys
import cupy, numpy
for kernel in json.loads(sys.argv[1]):
    function = cupy.RawModule(path=kernel["file"]).get_function(kernel["name"])
    arguments = [cupy.asarray(numpy.random.default_rng(1).uniform(-1, 1, each["size"]).astype(each["type"])) if "size" in each
                 else numpy.dtype(each["type"]).type(each["value"]) for each in kernel["arguments"]]
    for _ in range(LAUNCHES):
        function((kernel["grid"],), (kernel["block"],), tuple(arguments))
    cupy.cuda.runtime.deviceSynchronize()
'''
NUMPY = {"f32": "float32", "i32": "int32", "u32": "uint32", "u8": "uint8"}


def numbers(text):
    return int(eval(text, {"__builtins__": {}}, {"n": kernels.N}))  # of this study's own kernels


def launch_of(name, kernel):
    arguments = []
    for each in re.findall(r"\{([^}]*)\}", kernel.arguments):
        fields = [[part.strip(' "') for part in field.split(":")] for field in each.split(",")]
        if len(fields) > 1:
            arguments.append({"type": NUMPY[fields[0][1]], "size": numbers(dict(fields)["size"].replace("/", "//"))})
        else:
            kind, value = fields[0]
            arguments.append({"type": NUMPY[kind], "value": kernels.N if value == "n" else float(value)})
    return {"name": name, "file": f"{name}.cubin", "grid": numbers(kernel.grid.replace("/", "//")), "block": kernel.block,
            "arguments": arguments}


def words_of(text):
    """The opcode, as ncu and nvdisasm have it."""
    return next(word for word in text.split() if not word.startswith("@"))


def blocks_of(lines):
    """ncu's tables: a header row with the column Source, and a row for each instruction."""
    block = None
    for row in csv.reader(line for line in lines if line.startswith('"')):
        if "Source" in row or "SASS" in row:
            block = (row, [])
            yield block
        elif block and len(row) > 2:
            block[1].append(row)


def column(header, *begins):
    return next((at for begin in begins for at, name in enumerate(header) if name.startswith(begin)), None)


def part_ncu():
    out = pathlib.Path("out/edits/code.json")
    if not out.exists():
        say("  needs the part edits")
        return True
    ours = {}
    for case in json.loads(out.read_text())["cases"]:
        for kernel in case.get("kernels", []):
            ours[tuple(words_of(each["text"]) for each in kernel["instructions"])] = kernel
    ncu = os.environ.get("NCU") or shutil.which("ncu") or next(iter(sorted(
        glob.glob(f"{CUDA}/bin/ncu") + glob.glob("/opt/nvidia/nsight-compute/*/ncu"))), None)
    if not ncu:
        say("  there is no ncu")
        return True
    chosen = [name for name in ("bounds", "restrict", "moved", "constant", "bank", "inlined", "division", "tone_curve")
              if pathlib.Path(f"head/{name}.cu").exists()]
    arch = subprocess.run(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"], capture_output=True,
                          text=True).stdout.split("\n")[0].replace(".", "") or "90"
    for name in chosen:
        subprocess.run([CUDA / "bin/nvcc", f"-arch=sm_{arch}", "-lineinfo", "-cubin", "-o", f"{name}.cubin", f"head/{name}.cu"], check=True)
    write(pathlib.Path("launcher.py"), LAUNCHER.replace("LAUNCHES", str(LAUNCHES)))
    launches = json.dumps([launch_of(name, kernels.EDITS[name]) for name in chosen])
    # The option's name changed; 2^(5 + 6) cycles is perfgate's interval.
    for interval in (["--warp-sampling-interval", "6"], ["--sampling-interval", "6"], []):
        done = subprocess.run(
            [ncu, "--section", "SourceCounters", "--cache-control", "none", "--clock-control", "none", *interval, "--page", "source",
             "--print-source", "sass", "--csv", "-k", "regex:^(" + "|".join(chosen) + ")$", sys.executable, "launcher.py", launches],
            capture_output=True, text=True, timeout=90)
        if "unrecognised option" not in done.stdout + done.stderr:
            break
    say("  " + " ".join(interval) + " " + " ".join(done.stderr.split())[-300:])
    found = collections.defaultdict(list)
    for header, rows in list(blocks_of(done.stdout.splitlines())):  # each whole
        text = column(header, "Source", "SASS")
        key = tuple(word for word in (words_of(row[text]) for row in rows if row[text].strip()) if word != "NOP")
        found[key].append((header, [row for row in rows if row[text].strip() and words_of(row[text]) != "NOP"]))
    say(f"  {len(found)} kernels of ncu, {sum(map(len, found.values()))} launches; {[name for name in next(iter(found.values()))[0][0]][:14] if found else done.stdout[:600]}")
    for key, launches in found.items():
        kernel = ours.get(key)
        if kernel is None:
            say(f"  ncu has {len(key)} instructions that are no kernel's of ours: {key[:4]}")
            continue
        compare(kernel, launches)
    return True


def compare(kernel, launches):
    counts = [sum(each.get("samples", {}).values()) for each in kernel["instructions"]]
    all_ours = sum(counts) or 1
    # Which reasons are samples of warps that are not issued cannot be told from ours, but for one.
    waiting = [sum(count for reason, count in each.get("samples", {}).items() if reason != "selected") for each in kernel["instructions"]]

    def number(row, at):
        try:
            return float(row[at].replace(",", "") or 0)
        except (ValueError, TypeError):
            return 0.0

    header = launches[0][0]
    columns = {"all": column(header, "Warp Stall Sampling (All", "# Samples", "Samples"),
               "not issued": column(header, "Warp Stall Sampling (Not", "# Samples (Not")}
    text = f"  {kernel['name'].split('(')[0]:10} ours {all_ours} samples of {kernel.get('launches')} launches"
    worst_rows = []
    for name, at in columns.items():
        if at is None:
            continue
        theirs = [sum(number(rows[i], at) for _, rows in launches) for i in range(len(counts))]
        total = sum(theirs) or 1
        for what, mine in (("ours", counts), ("ours without selected", waiting)):
            apart = [100 * (one / (sum(mine) or 1) - other / total) for one, other in zip(mine, theirs)]
            worst = max(range(len(apart)), key=lambda i: abs(apart[i]))
            text += f"; {what} - ncu {name} ({total:.0f}) at worst {apart[worst]:+.1f} points"
            if what == "ours" and name == "all":
                order = sorted(range(len(apart)), key=lambda i: -abs(apart[i]))[:3]
                worst_rows = [f"      0x{kernel['instructions'][i]['at']:x} {kernel['instructions'][i]['text'][:40]}: ours "
                              f"{100 * mine[i] / (sum(mine) or 1):.1f} % ncu {100 * theirs[i] / total:.1f} %" for i in order]
    executed = column(header, "# Instructions Executed", "Instructions Executed", "inst_executed")
    if executed is not None:
        theirs = [number(row, executed) for row in launches[0][1]]
        mine = [each.get("executed") for each in kernel["instructions"]]
        equal = sum(one == other for one, other in zip(mine, theirs))
        text += f"; executions equal at {equal} of {len(mine)}"
        if equal < len(mine):
            text += ", first other " + str(next((kernel["instructions"][i]["text"][:30], mine[i], theirs[i])
                                               for i in range(len(mine)) if mine[i] != theirs[i]))
    say(text)
    for row in worst_rows:
        say(row)


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
