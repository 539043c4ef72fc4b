# SPDX-License-Identifier: Apache-2.0
"""perfgate profile against real programs on a GPU: profile_programs.py [PART...] [--rounds N].

Runs the parts in order and stops at the first failure. Environment: PERFGATE (the binary),
PERFGATE_PROGRAMS (folder with the compiled programs); without them a build folder is taken from
PERFGATE_BUILD_DIR. Parts: tables, torch, ends, streams, modules, trace, capture, ncu,
overhead.
"""

import argparse
import collections
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("PERFGATE_BUILD_DIR", HERE.parent.parent / "build/test"))
PERFGATE = os.environ.get("PERFGATE", str(BUILD / "bin/perfgate"))
PROGRAMS = pathlib.Path(os.environ.get("PERFGATE_PROGRAMS", BUILD / "bin"))
TRAINING = [sys.executable, str(HERE / "programs/training_step.py")]
DECODE = [sys.executable, str(HERE / "programs/decode_loop.py")]
ENDS = [sys.executable, str(HERE / "programs/ends.py")]
LEVELS = ("records", "callbacks", "api")


class Failure(Exception):
    pass


def say(text):
    print(text, flush=True)


def expect(condition, text):
    say(("  ok: " if condition else "  FAILED: ") + text)
    if not condition:
        raise Failure(text)


def run(words, codes=(0,), env=None, timeout=240):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, **(env or {})})
    if done.returncode not in codes:
        raise Failure(f"{' '.join(map(str, words))}\nexited with {done.returncode}, not {codes}\n"
                      f"stdout:\n{done.stdout[-6000:]}\nstderr:\n{done.stderr[-6000:]}")
    return done


def profile(program, *options, level="callbacks", codes=(0,)):
    """The profile's processes and what the program printed."""
    with tempfile.TemporaryDirectory() as folder:
        document = pathlib.Path(folder) / "profile.json"
        done = run([PERFGATE, "profile", "--level", level, "--json", document, *options, "--",
                    *program], codes)
        return json.loads(document.read_text())["processes"], done


def only(processes):
    if len(processes) != 1:
        raise Failure(f"{len(processes)} processes were recorded, not one: "
                      f"{[each.get('command') for each in processes]}")
    return processes[0]


def printed(done):
    """The line of JSON that the program printed among ours."""
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            return json.loads(line)
    raise Failure(f"the program printed no result:\n{done.stdout[-3000:]}")


def median(values):
    return statistics.median(values)


def part_tables(_):
    """Whether recording works at all, level by level, and what a user sees."""
    run([sys.executable, "-c", "import torch; print(torch.__version__)"])
    for level in LEVELS:
        done = run([PERFGATE, "profile", "--level", level, "--", *DECODE, "--steps", "20"], (0, 3))
        say(f"--- level {level}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        expect(done.returncode == 0, f"level {level} is complete")


def torch_kernels(program, folder):
    """Counts and total times by kernel, copies and memsets, as torch.profiler saw them."""
    trace = folder / "torch.json"
    run([*program, "--torch-profiler", trace])
    events = json.loads(trace.read_text())["traceEvents"]
    counts, times, others = collections.Counter(), collections.Counter(), collections.Counter()
    for event in events:
        if event.get("cat") == "kernel":
            counts[event["name"]] += 1
            times[event["name"]] += event["dur"] * 1000
        elif event.get("cat") in ("gpu_memcpy", "gpu_memset"):
            others[event["cat"]] += 1
    return counts, times, others


def compare_with_torch(name, program):
    with tempfile.TemporaryDirectory() as folder:
        counts, times, others = torch_kernels(program, pathlib.Path(folder))
    for level in LEVELS[1:]:
        process = only(profile(program, "--range", "measured", level=level)[0])
        own_counts = collections.Counter()
        own_times = collections.Counter()
        for kernel in process["kernels"]:
            own_counts[kernel["name"]] += kernel["count"]
            own_times[kernel["name"]] += kernel["total_ns"]
        total, own_total = sum(times.values()), sum(own_times.values())
        say(f"  {name}, {level}: {sum(own_counts.values())} kernels, torch.profiler "
            f"{sum(counts.values())}; {own_total / 1e6:.3f} ms, torch.profiler {total / 1e6:.3f} "
            f"ms ({own_total / total - 1:+.2%}); copies {process['program']['copies']} and "
            f"{others['gpu_memcpy']}, memsets {process['program']['memsets']} and "
            f"{others['gpu_memset']}; kernels with a code fingerprint "
            f"{sum(1 for each in process['kernels'] if 'code' in each)} of "
            f"{len(process['kernels'])}; work without launch {process['without_launch']}")
        differing = {kernel: (own_counts[kernel], counts[kernel])
                     for kernel in own_counts | counts if own_counts[kernel] != counts[kernel]}
        if differing:
            for kernel, (own, theirs) in sorted(differing.items())[:20]:
                say(f"    {own} here, {theirs} by torch.profiler: {kernel[:150]}")
        expect(not differing, f"{name}, {level}: the same count of every kernel")
        expect(process["program"]["copies"] == others["gpu_memcpy"] and
               process["program"]["memsets"] == others["gpu_memset"],
               f"{name}, {level}: the same copies and memsets")
        for kernel in sorted(times, key=times.get, reverse=True)[:6]:
            say(f"    {own_times[kernel] / times[kernel] - 1:+7.2%} of "
                f"{times[kernel] / counts[kernel] / 1000:9.2f} us x {counts[kernel]}: "
                f"{kernel[:100]}")
        expect(abs(own_total / total - 1) < 0.02, f"{name}, {level}: times within 2 %")
        yield process


def part_torch(_):
    """Kernel counts exactly and times within 2 % of torch.profiler's, in separate runs."""
    for process in compare_with_torch("training step", TRAINING):
        ranges = {each["name"]: each for each in process["ranges"]}
        steps = ranges["step"]
        say("  " + ", ".join(f"{name}: {each['count']} x {each['work']['kernels']} kernels, "
                             f"{each['work']['gpu_time_ns'] / 1e6:.2f} ms"
                             for name, each in ranges.items()))
        expect(steps["count"] == 100, "100 steps")
        expect(all(ranges[each]["count"] == 100 for each in ("forward", "backward", "optimiser")),
               "100 of forward, backward and optimiser each")
        parts = sum(ranges[each]["work"]["kernels"]
                    for each in ("forward", "backward", "optimiser"))
        expect(parts == steps["work"]["kernels"], "every kernel of a step is in one of its parts")
        expect(len({each["kernels"] for each in steps["instances"]}) == 1,
               "each step has the same number of kernels")
        expect(ranges["backward"]["work"]["kernels"] > ranges["forward"]["work"]["kernels"],
               "the backward pass, which other threads launch, is in its range")
    for process in compare_with_torch("decode loop", DECODE):
        steps = {each["name"]: each for each in process["ranges"]}["step"]
        expect({each["kernels"] for each in steps["instances"]} == {24}, "24 kernels in each step")


def part_ends(_):
    """Ways to end, and forked workers."""
    process = only(profile([*ENDS, "exit"])[0])
    expect(process["incomplete"] == [], "a program that exits is complete")
    process = only(profile([*ENDS, "workers"])[0])
    expect(process["incomplete"] == [], "forked workers leave the recording alone")
    process = only(profile([*ENDS, "leave"], codes=(3,))[0])
    expect("no end" in " ".join(process["incomplete"]), "os._exit is said")
    expect(process["program"]["kernels"] >= 100, "what was flushed before os._exit is there")
    process = only(profile([*ENDS, "terminate"], codes=(3,))[0])
    say(f"  SIGTERM: end '{process['end']}', {process['program']['kernels']} kernels, "
        f"incomplete {process['incomplete']}")
    expect(process["end"] == "signal 15", "SIGTERM is flushed")
    begin = time.monotonic()
    # Importing PyTorch takes longer: the program may end before it has used the device.
    done = run([PERFGATE, "profile", "--time-limit", "1", "--", *ENDS, "exit"], codes=(3,))
    expect(time.monotonic() - begin < 15 and "took longer" in done.stderr,
           "a time limit ends the program")


def part_streams(_):
    """A C++ program with a graph and four streams, in numbers that it knows."""
    program = [PROGRAMS / "streams_and_graphs"]
    for level in LEVELS:
        processes, done = profile(program, level=level)
        process, known = only(processes), printed(done)
        kernels = {each["name"].removeprefix("(anonymous namespace)::").split("(")[0]: each["count"]
                   for each in process["kernels"]}
        say(f"  {level}: {kernels}, counts {process['counts']}")
        expect(kernels == {"spin": known["spin"], "node": known["node"]}, "kernels by name")
        expect(process["program"]["memsets"] == known["memsets"], "memsets")
        expect(process["program"]["graph_launches"] == known["graph_launches"], "graph launches")
        copies = {each["memory"]: each for each in process["copies"]}
        say(f"  copies: {[(each['memory'], each['kind'], each['count'], each['bytes']) for each in process['copies']]}")
        expect(copies["pinned"]["count"] == known["pinned"] and
               copies["pinned"]["bytes"] == known["pinned"] * known["copy_bytes"], "pinned copies")
        expect(copies["pageable"]["bytes"] == known["pageable"] * known["copy_bytes"],
               "pageable copies")
        if level == "records":
            continue
        counts = process["counts"]
        expect(counts["kernel_launches"] == known["spin"] + known["captured"] and
               counts["captured_launches"] == known["captured"] and
               counts["graph_launches"] == known["graph_launches"], "launches by callback")
        ranges = {each["name"]: each["work"] for each in process["ranges"]}
        expect([ranges[each]["kernels"] for each in ("streams", "graph", "copies")] ==
               [1000, known["node"], 20], "kernels by range")
        if level == "api":
            say(f"  waits {process['waits']}\n  device {process['devices']}\n"
                f"  calls {[(each['name'], each['count']) for each in process['calls']]}")
            expect(process["program"]["synchronisations"] >= 4, "synchronisations")
            expect(process["devices"][0]["peak_memory_bytes"] >= 4 * known["copy_bytes"],
                   "memory high-water mark")
            expect(ranges["streams"]["kernel_time_ns"] > 2 * ranges["streams"]["gpu_time_ns"],
                   "kernels of four streams overlap")


def part_modules(_):
    """Modules that take the place of unloaded ones: each kernel has its own name."""
    for level in LEVELS:
        process = only(profile([PROGRAMS / "replaced_modules"], level=level, codes=(0, 3))[0])
        kernels = {each["name"]: each["count"] for each in process["kernels"]}
        say(f"  {level}: {kernels}, incomplete {process['incomplete']}")
        doubt = " ".join(process["incomplete"])
        if level == "records":
            expect("after a module was unloaded" in doubt, "names are in doubt")
            continue
        third = {"third": kernels.pop("third", 0)}
        # CUPTI's names of kernels in graphs cannot be checked; a wrong one must not pass.
        expect(third == {"third": 2} or "names of unloaded ones" in doubt, "the graph's kernels")
        if third == {"third": 2}:
            expect(kernels == {"first": 3, "second": 5}, "kernels by name")


def part_trace(_):
    """The trace, event by event: fields, nesting of slices, both ends of flows."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        run([PERFGATE, "profile", "--trace", trace, "--", *TRAINING, "--steps", "2"])
        size = trace.stat().st_size
        events = json.loads(trace.read_text())["traceEvents"]
    rows, flows = collections.defaultdict(list), collections.defaultdict(list)
    kinds = collections.Counter()
    for event in events:
        kinds[event["ph"], event.get("cat")] += 1
        if event["ph"] == "X":
            rows[event["pid"], event["tid"]].append((event["ts"], -event["dur"], event["name"]))
        elif event["ph"] in "sf":
            flows[event["id"]].append(event)
    say(f"  {len(events)} events, {size} bytes: {dict(kinds)}")
    overlaps = 0
    for row in rows.values():
        stack = []
        for begin, length, _ in sorted(row):
            end = begin - length
            while stack and stack[-1] <= begin + 1e-3:
                stack.pop()
            if stack and end > stack[-1] + 1e-3:
                overlaps += 1
            stack.append(end)
    expect(overlaps == 0, "slices of a row nest")
    expect(all([each["ph"] for each in ends] == ["s", "f"] and ends[0]["ts"] <= ends[1]["ts"]
               for ends in flows.values()), "each flow has a start and then an end")
    expect(len(flows) > 100, "launches lead to their work")


def part_capture(_):
    """Whether the calls that are said to be uncapturable are those that a capture refuses or leaves out."""
    lines = run([PROGRAMS / "capture_rules", "try"]).stdout.splitlines()
    results = dict(line.split(": ", 1) for line in lines)
    refused = {name for name, outcome in results.items() if outcome != "captured"}
    for line in lines:
        say("  " + line)
    process = only(profile([PROGRAMS / "capture_rules", "call"], level="api")[0])
    listed = {each["name"] for each in process["uncapturable"] if each["range"] == "calls"}
    expect(refused == listed,
           f"{len(listed)} calls are listed and {len(refused)} refused; refused alone: "
           f"{sorted(refused - listed)}, listed alone: {sorted(listed - refused)}")


def interval(values):
    """The median and, of few values, the least and greatest."""
    return median(values), min(values), max(values)


def overhead_run(program, how):
    """The program's step time, us: alone, under the least injection that records kernels, or under ours."""
    if how == "bare":
        done = run(program)
    elif how == "floor":
        done = run(program, env={"CUDA_INJECTION64_PATH": str(PROGRAMS / "kernel_records_only.so")})
    else:
        done = run([PERFGATE, "profile", "--level", how, "--rows", "1", "--", *program])
    return printed(done)["step_us"]


def part_overhead(chosen):
    """What recording costs, in paired runs in turns; --program and --levels choose."""
    levels = ["bare", "floor", *chosen.levels]
    for name, program, bound in (("training step", TRAINING, 0.03), ("decode loop", DECODE, 0.10)):
        if chosen.program not in ("", name):
            continue
        times = collections.defaultdict(list)
        for round_number in range(chosen.rounds):
            first = round_number % len(levels)
            for how in levels[first:] + levels[:first]:
                times[how].append(overhead_run(program, how))
            say(f"  {name}, round {round_number + 1}: " +
                ", ".join(f"{how} {times[how][-1]:.1f} us" for how in levels))
        best = {how: min(times[how]) / min(times["bare"]) - 1 for how in levels}
        for how in levels[1:]:
            middle, least, most = interval([own / bare - 1 for own, bare in zip(times[how], times["bare"])])
            say(f"  {name}: {how} costs {middle:+.1%} (from {least:+.1%} to {most:+.1%} in "
                f"{chosen.rounds} pairs; best of each {best[how]:+.1%})")
        if "records" in levels:
            # A decode loop of 10 us a launch: CUPTI alone costs it 9 to 24 %.
            expect(best["records"] < max(bound, best["floor"] + 0.10),
                   f"{name}: records cost {best['records']:+.1%}, less than {bound:.0%} or within ten points of "
                   f"CUPTI's own {best['floor']:+.1%}")


def ncu_durations(program, pattern):
    """How long each kernel with this name took, ns, as ncu measures it without control of clocks and caches."""
    done = run(["ncu", "--clock-control", "none", "--cache-control", "none", "--csv", "--print-units", "base",
                "--metrics", "gpu__time_duration.sum", "--kernel-name", f"regex:{pattern}", *program])
    lines = done.stdout.splitlines()
    header = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    return [float(row["Metric Value"].replace(",", "")) for row in csv.DictReader(lines[header:])]


def part_ncu(_):
    """Medians of kernels of 20 us and more within 3 % of ncu's, in separate runs."""
    for name in ("cupy_scale", "triton_scale"):
        program = [sys.executable, str(HERE / f"programs/{name}.py")]
        theirs = ncu_durations(program, "scale")
        own = [kernel for kernel in only(profile(program)[0])["kernels"] if "scale" in kernel["name"]]
        expect(len(own) == 1 and own[0]["count"] == len(theirs), f"{name}: {len(theirs)} launches of one kernel")
        ratio = own[0]["median_ns"] / median(theirs)
        say(f"  {name}: median {own[0]['median_ns'] / 1000:.2f} us, by ncu {median(theirs) / 1000:.2f} us ({ratio - 1:+.2%})")
        expect(median(theirs) >= 20000 and abs(ratio - 1) < 0.03, f"{name}: within 3 %")


PARTS = {"tables": part_tables, "torch": part_torch, "ends": part_ends, "streams": part_streams,
         "modules": part_modules, "trace": part_trace, "capture": part_capture,
         "ncu": part_ncu, "overhead": part_overhead}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--levels", nargs="*", default=LEVELS, choices=LEVELS)
    parser.add_argument("--program", default="", choices=("", "training step", "decode loop"))
    chosen = parser.parse_args()
    if subprocess.run([sys.executable, "-c", "import torch; torch.zeros(1).cuda()"],
                      capture_output=True).returncode != 0:
        say("no torch with a GPU: nothing is tested")
        return 77
    unknown = set(chosen.parts) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    for name in chosen.parts or PARTS:
        begin = time.monotonic()
        say(f"== {name}: {PARTS[name].__doc__}")
        try:
            PARTS[name](chosen)
        except (Failure, subprocess.TimeoutExpired, KeyError) as failure:
            say(f"== {name} FAILED after {time.monotonic() - begin:.0f} s: "
                f"{type(failure).__name__}: {failure}")
            return 1
        say(f"== {name} passed in {time.monotonic() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
