# SPDX-License-Identifier: Apache-2.0
"""perfgate profile against real programs on a GPU: profile_programs.py [PART...] [--rounds N].

A failure ends its part, not the others. Environment: PERFGATE (the binary), PERFGATE_PROGRAMS (folder with the
compiled programs); without them a build folder is taken from PERFGATE_BUILD_DIR. Parts: tables, torch, ends, kills,
profiler, streams, modules, trace, capture, ncu, overhead.
"""

import argparse
import collections
import concurrent.futures
import csv
import functools
import json
import os
import pathlib
import random
import re
import signal
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
PROFILED = [sys.executable, str(HERE / "programs/profiled_part.py")]
LEVELS = ("records", "callbacks", "api")

# Programs that launch one kernel in a range, and how often outside of it, too.
SCALES = {"cupy_scale": 0, "triton_scale": 0, "jax_scale": 1}
SCALE_STEPS, SCALE_WORK = 30, 4


# What ncu's duration has more than a kernel's record, whatever the kernel: 1.0 to 1.6 us on an H100.
NCU_MORE_NS = 2000


class Failure(Exception):
    pass


def say(text):
    print(text, flush=True)


def expect(condition, text):
    say(("  ok: " if condition else "  FAILED: ") + text)
    if not condition:
        raise Failure(text)


def run(words, codes=(0,), env=None, timeout=240):
    try:
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=timeout,
                              env={**os.environ, **(env or {})})
    except subprocess.TimeoutExpired as late:
        said = b"".join(stream for stream in (late.stdout, late.stderr) if stream)  # bytes, whatever `text` says
        raise Failure(f"{' '.join(map(str, words))}\nnot done after {timeout} s:\n"
                      f"{said.decode(errors='replace')[-6000:]}") from late
    if done.returncode not in codes:
        raise Failure(f"{' '.join(map(str, words))}\nexited with {done.returncode}, not {codes}\n"
                      f"stdout:\n{done.stdout[-6000:]}\nstderr:\n{done.stderr[-6000:]}")
    return done


def profile(program, *options, level="callbacks", codes=(0,)):
    """The profile's processes and what the program printed."""
    with tempfile.TemporaryDirectory() as folder:
        document = pathlib.Path(folder) / "profile.json"
        done = run([PERFGATE, "profile", "--level", level, "--report", f"json:{document}", *options, "--",
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
    run_all([(name, functools.partial(counted_launches, name)) for name in SCALES])


def scale_program(name):
    return [sys.executable, str(HERE / f"programs/{name}.py")]


def most_launched(process):
    return max(process["kernels"], key=lambda kernel: kernel["count"])


def counted_launches(name):
    """The launches that the program makes, in the table of kernels and in its range."""
    processes, done = profile(scale_program(name))
    say(done.stdout)
    process = only(processes)
    kernel, launches = most_launched(process), SCALE_STEPS * SCALE_WORK
    expect(kernel["count"] == launches + SCALES[name], f"{kernel['count']} launches of {kernel['name'][:100]}")
    step = {each["name"]: each for each in process["ranges"]}["step"]
    expect((step["count"], step["work"]["kernels"]) == (SCALE_STEPS, launches),
           f"{step['count']} steps with {step['work']['kernels']} kernels")


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
    # perfgate reads the trace itself, too.
    document = folder / "read.json"
    run([PERFGATE, "profile", "--recording", trace, "--report", f"json:{document}"])
    read = only(json.loads(document.read_text())["processes"])
    expect({each["name"]: (each["count"], each["total_ns"]) for each in read["kernels"]} ==
           {kernel: (counts[kernel], round(times[kernel])) for kernel in counts},
           f"{sum(counts.values())} kernels of the trace, read with the same counts and times")
    return counts, times, others


def compare_with_torch(name, program):
    with tempfile.TemporaryDirectory() as folder:
        counts, times, others = torch_kernels(program, pathlib.Path(folder))
    for level in LEVELS[1:]:
        process = only(profile(program, "--capture", "range:measured", level=level)[0])
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


def part_profiler(_):
    """What a program does between cudaProfilerStart and cudaProfilerStop, and behind its first launches."""
    for level in LEVELS:
        process = only(profile(PROFILED, "--capture", "profiler-api", level=level)[0])
        expect(process["program"]["kernels"] == 40, f"{level}: 40 kernels while the profiler runs")
        ranges = {each["name"]: each["count"] for each in process["ranges"]}
        expect(ranges == {"profiled": 3}, f"{level}: the ranges that are wholly in it")
    whole = only(profile(PROFILED)[0])["program"]["kernels"]
    process = only(profile(PROFILED, "--capture", f"after-launches:{str(whole - 9)}")[0])
    expect(process["program"]["kernels"] == 9, f"the last 9 of {whole} kernels")
    done = run([PERFGATE, "profile", "--capture", "profiler-api", "--", *DECODE, "--steps", "2"], codes=(3,))
    expect("never called cudaProfilerStart()" in done.stderr, "a program that starts no profiler is an error")


def killed(program, moment):
    """The profile of a program that is killed after so many seconds, its exit status, and whether it was."""
    with tempfile.TemporaryDirectory() as folder:
        pid_file, document = pathlib.Path(folder) / "pid", pathlib.Path(folder) / "profile.json"
        # The shell becomes the program.
        words = [PERFGATE, "profile", "--level", "callbacks", "--report", f"json:{document}", "--",
                 "bash", "-c", 'echo $$ >"$0"; exec "$@"', pid_file, *program]
        with subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as tool:
            begin = time.monotonic()
            pid = ""
            while not pid.endswith("\n") or time.monotonic() < begin + moment:
                if tool.poll() is not None:
                    break
                time.sleep(0.005)
                pid = pid_file.read_text() if pid_file.exists() else ""
            try:
                os.kill(int(pid), signal.SIGKILL)
                was_killed = True
            except (ProcessLookupError, ValueError):
                was_killed = False
            said, _ = tool.communicate(timeout=60)
        if "nothing was recorded" in said and not document.exists():
            return {"processes": []}, tool.returncode, was_killed
        try:
            read = json.loads(document.read_text())
        except (OSError, ValueError) as failure:
            raise Failure(f"killed after {moment:.2f} s: no valid document ({failure}); exit {tool.returncode}:\n"
                          f"{said[-2000:]}") from failure
        return read, tool.returncode, was_killed


def part_kills(chosen):
    """A program killed at random moments, eight at a time: the document is valid, and incomplete if it had not ended."""
    program = [PROGRAMS / "streams_and_graphs", 60]
    begin = time.monotonic()
    alone, done = profile(program)
    seconds = time.monotonic() - begin
    known = printed(done)
    all_kernels = known["spin"] + known["node"]
    expect(only(alone)["program"]["kernels"] == all_kernels, f"{all_kernels} kernels in {seconds:.1f} s, alone")
    # Eight at a time take longer than one.
    moments = [random.Random(number).uniform(0, 1.5 * seconds) for number in range(chosen.kills)]
    outcomes, wrong = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        pending = {pool.submit(killed, program, moment): moment for moment in moments}
        for future in concurrent.futures.as_completed(pending):
            moment = pending[future]
            try:
                document, code, was_killed = future.result()
            except Exception as failure:  # noqa: BLE001 (the others are read)
                wrong.append(str(failure))
                continue
            kernels = [process["program"]["kernels"] for process in document["processes"]]
            incomplete = [reason for process in document["processes"] for reason in process["incomplete"]]
            ended = code == 0 or kernels == [all_kernels]
            outcome = ("ended" if ended else "no CUDA yet" if not kernels else
                       "incomplete, nothing flushed" if sum(kernels) == 0 else "incomplete, with kernels")
            outcomes[outcome] += 1
            say(f"  after {moment:.2f} s: {'killed' if was_killed else 'had ended'}, exit {code}, kernels {kernels}, "
                f"incomplete {incomplete}")
            if code not in (0, 3) or (code != 0 and not was_killed) or (kernels and not ended and not incomplete):
                wrong.append(f"after {moment:.2f} s: exit {code}, {kernels} kernels, incomplete {incomplete}")
    say(f"  {chosen.kills} moments: {dict(outcomes)}")
    expect(not wrong, f"each document is valid, and incomplete if the program had not ended: {wrong}")
    expect(outcomes["incomplete, with kernels"] > 0, "some were killed after a flush")


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
            overlap = ranges["streams"]["kernel_time_ns"] / ranges["streams"]["gpu_time_ns"]
            expect(overlap > 2, f"kernels of four streams overlap: {overlap:.2f}")


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
        expect(kernels == {"first": 3, "second": 5, "third": 2} and not doubt, "kernels by name, those of the graph too")


def part_trace(_):
    """The trace, event by event: fields, nesting of slices, both ends of flows."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder) / "trace.json"
        run([PERFGATE, "profile", "--report", f"trace:{trace}", "--", *TRAINING, "--steps", "2"])
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
        done = run([PERFGATE, "profile", "--level", how, "--", *program])
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
    # Its lock is $TMPDIR/nsight-compute-lock: one in /tmp may be another user's.
    with tempfile.TemporaryDirectory(prefix="perfgate-ncu-") as folder:
        done = run(["ncu", "--clock-control", "none", "--cache-control", "none", "--report", "csv:--print-units", "base",
                    "--metrics", "gpu__time_duration.sum", "--kernel-name", f"regex:{pattern}", *program],
                   env={"TMPDIR": folder})
    lines = done.stdout.splitlines()
    header = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if header is None:
        raise Failure(f"ncu counted no kernel {pattern}:\n{done.stdout[-2000:]}")
    return [float(row["Metric Value"].replace(",", "")) for row in csv.DictReader(lines[header:])]


def compare_with_ncu(program, word):
    """Medians of a kernel within 3 % or 2 us of ncu's, each the median of three runs; in turns."""
    # `word` is in its name, or it is the one that the program launches most.
    own, theirs = [], []
    for _ in range(3):
        process = only(profile(program)[0])
        named = [kernel for kernel in process["kernels"] if word in kernel["name"]] if word else [most_launched(process)]
        expect(len(named) == 1, f"one kernel: {[kernel['name'][:100] for kernel in named]}")
        own.append(named[0]["median_ns"])
        function = re.search(r"(\w+)(<.*>)?(\(.*)?$", named[0]["name"])[1]
        durations = ncu_durations(program, f"^{function}$")
        theirs.append(median(durations))
        say(f"  {function}: {own[-1] / 1000:.2f} us of {named[0]['count']}, by ncu {theirs[-1] / 1000:.2f} us of "
            f"{len(durations)}")
        expect(len(durations) == named[0]["count"], "as many launches")
    ratio = median(own) / median(theirs)
    say(f"  {function}: median {median(own) / 1000:.2f} us, by ncu {median(theirs) / 1000:.2f} us ({ratio - 1:+.2%})")
    expect(median(theirs) >= 20000, "takes 20 us and more")
    difference = median(theirs) - median(own)
    expect(abs(ratio - 1) < 0.03 or 0 < difference < NCU_MORE_NS, f"within 3 %, or ncu's is longer by less than 2 us: "
           f"{difference:.0f} ns")


def part_ncu(_):
    """Kernels of 20 us and more against ncu, in separate runs."""
    kernels = [(scale_program("cupy_scale"), "scale"), (scale_program("triton_scale"), "scale"),
               (scale_program("jax_scale"), ""), ([PROGRAMS / "counted_kernels", 4, "alone"], "copy_bytes"),
               ([PROGRAMS / "counted_kernels", 4, "alone"], "multiply_add")]
    run_all([(f"{pathlib.Path(program[-1] if len(program) == 2 else program[0]).stem} {word}",
              functools.partial(compare_with_ncu, program, word)) for program, word in kernels])


PARTS = {"tables": part_tables, "torch": part_torch, "ends": part_ends, "kills": part_kills,
         "profiler": part_profiler, "streams": part_streams, "modules": part_modules, "trace": part_trace,
         "capture": part_capture, "ncu": part_ncu, "overhead": part_overhead}


def has_torch():
    if subprocess.run([sys.executable, "-c", "import torch; torch.zeros(1).cuda()"],
                      capture_output=True).returncode == 0:
        return True
    say("no torch with a GPU: nothing is tested")
    return False


def run_parts(parts):
    """Calls the functions of these pairs, each whatever the others did. 1 if one failed."""
    failed = []
    for name, part in parts:
        begin = time.monotonic()
        say(f"== {name}: {getattr(part, 'func', part).__doc__ or ''}")
        try:
            part()
            outcome = "passed"
        except Exception as failure:  # noqa: BLE001 (what other parts measure is not lost)
            say(f"  {type(failure).__name__}: {failure}")
            outcome = "FAILED"
            failed.append(name)
        say(f"== {name} {outcome} after {time.monotonic() - begin:.0f} s")
    say(f"{len(failed)} failed: {', '.join(failed)}" if failed else f"all {len(parts)} passed")
    return 1 if failed else 0


def run_all(parts):
    """The same within a part, which fails if one of these does."""
    expect(run_parts(parts) == 0, "all of these")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--levels", nargs="*", default=LEVELS, choices=LEVELS)
    parser.add_argument("--program", default="", choices=("", "training step", "decode loop"))
    parser.add_argument("--kills", type=int, default=50)
    chosen = parser.parse_args()
    unknown = set(chosen.parts) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    if not has_torch():
        return 77
    return run_parts([(name, functools.partial(PARTS[name], chosen)) for name in chosen.parts or PARTS])


if __name__ == "__main__":
    sys.exit(main())
