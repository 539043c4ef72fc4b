# SPDX-License-Identifier: Apache-2.0
"""On a GPU: kernels that do 2 or 5 % more work, because a file was edited, and kernels that do as much: more_work_study.py PART... [OPTION...]

    counters  a baseline of three collections, then runs of other code with the same work and with 5 % more, judged by counters
              at the tolerances that `refresh` names for half of the cases, and for 90 %
    suites    the same of the SUITES' own kernels, unchanged: without their fingerprints, so that no code excuses a counter
    together  the SUITES' counters if each is measured alone, and if all are in one run
    settling  ten kernels at a tolerance of 0.5 % on a board that the baseline does not know, in four STATES: with the base at hand, and without

`settling` records the baseline on BOARD of `--devices BOARD,OTHER` and runs on OTHER. With one device it takes its own times, made 1 % shorter, for
another board's. It interrupts a run that has settled: perfgate then reads the machine code of slower cases, which changes no verdict and takes longer than
settling. Prints verdicts and seconds; ends with 1 if the same work regressed, less than nine of ten kernels were found by settling, settling took more
than 60 s, or anything passed without the base.
Environment: PERFGATE."""

import argparse
import collections
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "bench"))
from recorded_counters import NAMED  # noqa: E402

PERFGATE = pathlib.Path(os.environ["PERFGATE"]).resolve()
SUITES = pathlib.Path(__file__).resolve().parents[2] / "suites"
START = time.monotonic()
COUNTERS = ["instructions", "dram_bytes", "cycles", "occupancy", "l2_hit_rate", "issue_active"]

# The work of each is proportional to kWork. kOther changes the code, and no amount: inputs are less than 1, so where a thread of `chase` reads next does
# not depend on it (at other addresses the same number of reads took 2 % less time). Large buffers are outputs, which the device fills; the host fills
# inputs, in each process.
KERNELS = """
constexpr int kWork = %(work)d;
constexpr float kOther = %(other)sf;
#define EACH const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, all = gridDim.x * blockDim.x; (void)t; (void)all
extern "C" __global__ void affine(float* out, const float* in, int) {
  EACH;
  float x = in[i], y = kOther;
#pragma unroll 1
  for (int k = 0; k < kWork; ++k) { x = x * 0.999f + y; y = y * 0.998f + x; x = x * 0.5f + 1; y = y * 0.25f + 2; }
  out[i] = x + y;
}
extern "C" __global__ void special(float* out, const float* in, int) {
  EACH;
  float x = in[i] + kOther;
#pragma unroll 1
  for (int k = 0; k < kWork; ++k) x = __sinf(x) + __expf(x) * 0.125f;
  out[i] = x;
}
extern "C" __global__ void integers(float* out, const float* in, int) {
  EACH;
  unsigned x = __float_as_uint(in[i] + kOther);
#pragma unroll 1
  for (int k = 0; k < kWork; ++k) { x ^= x << 13; x ^= x >> 17; x ^= x << 5; }
  out[i] = x;
}
extern "C" __global__ void shared(float* out, const float* in, int) {
  EACH;
  __shared__ float tile[256];
  tile[t] = in[i];
  __syncthreads();
  float x = kOther;
#pragma unroll 1
  for (int k = 0; k < kWork; ++k) x = x * 0.5f + tile[(t + k) & 255];
  out[i] = x;
}
extern "C" __global__ void shuffles(float* out, const float* in, int) {
  EACH;
  float x = in[i] + kOther;
#pragma unroll 1
  for (int k = 0; k < kWork; ++k) x += 0.5f * __shfl_xor_sync(~0u, x, 1 + (k & 15));
  out[i] = x;
}
extern "C" __global__ void barriers(float* out, const float* in, int) {
  EACH;
  __shared__ float tile[256];
  float x = in[i] + kOther;
#pragma unroll 1
  for (int k = 0; k < kWork / 5; ++k) { tile[t] = x; __syncthreads(); x = x * 0.5f + tile[t ^ 32]; __syncthreads(); }
  out[i] = x;
}
extern "C" __global__ void chase(float* out, const float* in, int) {
  EACH;
  unsigned at = i;
#pragma unroll 1
  for (int k = 0; k < kWork / 5; ++k) at = (at * 5 + (__ldcg(in + at) > 2 + kOther) + 1031) & 0xfffff;
  out[i] = at;
}
extern "C" __global__ void stream(float* out, const float* in, int rows) {
  EACH;
  float x = kOther;
  for (int k = i + all; k < kWork * rows; k += all) x += __ldcs(out + k);
  out[i] = x;
}
extern "C" __global__ void writes(float* out, const float* in, int rows) {
  EACH;
  const float x = in[i] + kOther;
  for (int k = i; k < kWork * rows; k += all) __stcs(out + k, x);
}
extern "C" __global__ void gather(float* out, const float* in, int rows) {
  EACH;
  float x = kOther;
  for (int k = i; k < kWork * (rows / 8); k += all) x += __ldcg(out + all + unsigned(k) * 2654435761u %% (1000u * rows));
  out[i] = x;
}
"""
STATES = {"2-more": (1020, "builds"), "5-more": (1050, "builds"), "5-without": (1050, "none"), "same": (1000, "builds")}  # kWork, builds
IN_REGISTERS = ("affine", "special", "integers", "shared", "shuffles", "barriers", "chase")
IN_MEMORY = ("stream", "writes", "gather")
FULL = 132 * 8 * 256  # threads


def say(text):
    print(f"[{time.monotonic() - START:5.1f} s] {text}", flush=True)


def write_kernels(work=1000, other=0):
    pathlib.Path("work.cu").write_text(KERNELS % {"work": work, "other": 0.375 + other / 64})


def write_suite(metrics, tolerances, rows):
    text = f"name: work\ndefaults:\n  metrics: {json.dumps(metrics)}\n  tolerances: {json.dumps(tolerances)}\n  time_budget: 40 ms\nworkloads:\n"
    for name in IN_REGISTERS + IN_MEMORY:
        size = "1050 * rows" if name in IN_MEMORY else 1 << 20
        text += (f"  - source: work.cu\n    kernel: {name}\n    launch: {{grid: {132 if name == 'chase' else 132 * 8}, block: 256}}\n"
                 f"    arguments: [{{out: f32, size: \"{size}\"}}, {{in: f32, size: {1 << 20}}}, {{i32: rows}}]\n"
                 f"    matrix: {{rows: {rows if name in IN_MEMORY else rows[-1:]}}}\n")
    pathlib.Path("work.yaml").write_text(text)


def perfgate(*words, codes=(0, 1, 3, 4), device=None, until=None):
    """What it printed, and its seconds. It is interrupted when it has printed a line with `until`."""
    begin = time.monotonic()
    env = os.environ | ({"CUDA_VISIBLE_DEVICES": device} if device else {})
    lines = []
    with subprocess.Popen([PERFGATE, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env) as process:
        for line in process.stdout:
            lines.append(line)
            if until and until in line:
                process.send_signal(signal.SIGINT)
    if process.returncode not in codes:
        raise RuntimeError(f"{words}: exit {process.returncode}: {''.join(lines)[-2000:]}")
    return "".join(lines), time.monotonic() - begin


def run(files, out, *words, **how):
    """The rows of a run's verdict by case and metric, its counts, its seconds, and what it printed."""
    said, seconds = perfgate("run", *files, "--backend", "cuda", "--out", out, *words, **how)
    cases = [case for suite in json.loads(pathlib.Path(out, "verdict.json").read_text())["suites"] for case in suite["cases"]]
    for case in cases:
        if case["verdict"] in ("error", "incorrect", "missing", "invalid"):
            say(f"  {case['id']}: {case['verdict']}: {case.get('reason', '')[:300]}")
    return ({(case["id"], row["metric"]): row for case in cases for row in case["metrics"]},
            dict(collections.Counter(case["verdict"] for case in cases)), seconds, said)


def named(text):
    """The tolerances that `refresh` names for half of the cases and for 90 %, by metric."""
    found = {metric: ["0.01%", "0.01%"] for metric in COUNTERS}
    for match in filter(None, map(NAMED.match, text.splitlines())):
        if match[1] in COUNTERS:
            found[match[1]] = [re.sub(r"^more than ", "", each).replace(" ", "").replace("points", "%") for each in match.group(2, 3)]
    return found


def judged(rows, planted, total):
    """Prints the counters that regressed, and adds to the counts: of all, what regressed or was unclear."""
    for (case, metric), row in rows.items():
        if metric not in COUNTERS:
            continue
        # Only what the edit makes more of is planted.
        more = metric in ("instructions", "cycles") or metric == "dram_bytes" and case.split("/")[1].split("[")[0] in IN_MEMORY
        if planted and not more:
            continue
        total[planted, metric, "all"] += 1
        total[planted, metric, row["verdict"]] += 1
        if (row["verdict"] != "regressed") == planted or row["verdict"] in ("inconclusive", "invalid"):
            say(f"      {case} {row.get('sentence', metric + ': ' + row['verdict'])[:230]}")


def conclude(what, total):
    """Prints the counts; whether the same work was measured and nothing of it regressed."""
    for planted in (False, True):
        for metric in COUNTERS:
            counts = {verdict: count for (p, m, verdict), count in sorted(total.items()) if (p, m) == (planted, metric)}
            if counts:
                say(f"  {what}, {'5 % more' if planted else 'the same'}: {metric}: {counts}")
    same = [verdict for planted, _, verdict in total if not planted]
    return "pass" in same and "regressed" not in same


def counters(options):
    """5 % more, and the same work in other code."""
    write_kernels()
    write_suite([*COUNTERS, "gpu_time"], {**{name: "0.01%" for name in COUNTERS}, "gpu_time": "none"}, [32768])
    said, seconds = perfgate("baseline", "refresh", "work.yaml", "--backend", "cuda", "--processes", "3", "--quiet")
    tolerances = named(said)
    say(f"baseline: {seconds:.1f} s, named {tolerances}")
    total, longest, number = {"half": collections.Counter(), "90 %": collections.Counter()}, {}, 0
    while number < options.runs:
        share, planted = list(total)[number // 2 % 2], number % 2 == 0
        if time.monotonic() - START + longest.get(planted, 0) > options.seconds:
            break
        write_suite([*COUNTERS, "gpu_time"], {**{name: each[list(total).index(share)] for name, each in tolerances.items()}, "gpu_time": "none"}, [32768])
        write_kernels(1050 if planted else 1000, number + 1)
        found, counts, seconds, _ = run(["work.yaml"], f"run-{number}", "--processes", "1", "--quiet")
        longest[planted] = max(longest.get(planted, 0), seconds)
        say(f"  tolerances of {share}, {'5 % more' if planted else 'the same'}: {seconds:.1f} s, {counts}")
        judged(found, planted, total[share])
        number += 1
    return all([conclude(share, counts) for share, counts in total.items()])


def without_fingerprints(path):
    document = json.loads(path.read_text())
    for case in (case for suite in document["suites"] for case in suite["cases"]):
        for key in ("host_code", "libraries"):
            case.pop(key, None)
        for kernel in case.get("kernels", []):
            kernel.pop("code", None)
    path.write_text(json.dumps(document))


def write_bundled(name, tolerances):
    """Those of a bundled suite's kernels that have counters, which graphs and copies have not."""
    import yaml  # python3-yaml

    suite = yaml.safe_load((SUITES / f"{name}.yaml").read_text())
    defaults = suite["defaults"]
    suite["workloads"] = [each for each in suite["workloads"]
                          if "core" in each.get("metrics", defaults.get("metrics", [])) and each["variants"] != ["reference"]]
    defaults.update(metrics=[*COUNTERS, "gpu_time"], tolerances={**tolerances, "gpu_time": "none"})
    defaults.pop("cross_board_tolerance", None)
    for each in (suite, *suite["workloads"]):
        for key in ("overrides", "expect", "tolerances", "metrics"):
            each.pop(key, None)
    pathlib.Path(f"{name}.yaml").write_text(yaml.safe_dump(suite, sort_keys=False))
    return f"{name}.yaml"


def suites(options):
    """The bundled suites with counters as their gates."""
    files = []
    for name in options.suites:
        file = write_bundled(name, {metric: "0.01%" for metric in COUNTERS})
        seconds = perfgate("baseline", "refresh", file, "--backend", "cuda", "--baselines", "with-code", "--out", f"of-{name}", "--processes", "3",
                           "--quiet")[1]
        document = pathlib.Path(f"of-{name}/run.json")
        without_fingerprints(document)
        tolerances = named(perfgate("baseline", "refresh", document)[0])
        say(f"{name}: baseline {seconds:.1f} s, named {tolerances}")
        files.append(write_bundled(name, {metric: each[0] for metric, each in tolerances.items()}))
    total, number, longest = collections.Counter(), 0, 0
    while number < options.runs and time.monotonic() + longest < START + options.seconds:
        found, counts, seconds, _ = run(files, f"suites-{number}", "--processes", "1", "--quiet")
        longest = max(longest, seconds)
        say(f"  run {number}: {seconds:.1f} s, {counts}")
        judged(found, False, total)
        number += 1
    return conclude("half", total)


def together(options):
    """Whether a counter depends on what else a process measures: each suite alone, and all in one run, in turns."""
    files = [write_bundled(name, {}) for name in options.suites]
    values = {"alone": collections.defaultdict(list), "together": collections.defaultdict(list)}
    for number in range(options.runs):
        for how, groups in (("alone", [[file] for file in files]), ("together", [files])):
            if time.monotonic() - START > options.seconds:
                break
            for place, group in enumerate(groups):
                run(group, f"{how}-{number}-{place}", "--processes", "1", "--quiet")
                for suite in json.loads(pathlib.Path(f"{how}-{number}-{place}/run.json").read_text())["suites"]:
                    for case in suite["cases"]:
                        for metric in COUNTERS:
                            if "value" in case["metrics"].get(metric, {}):
                                values[how][case["id"], metric].append(case["metrics"][metric]["value"])
            say(f"  {how}")
    for metric in COUNTERS:
        rows = sorted((statistics.mean(values["together"][key]) / statistics.mean(alone) - 1, key[0], alone, values["together"][key])
                      for key, alone in values["alone"].items() if key[1] == metric and values["together"][key] and statistics.mean(alone))
        if rows:
            say(f"  {metric}: together beside alone: median {statistics.median(row[0] for row in rows):+.2%} of {len(rows)} cases")
            for change, case, alone, both in rows[:3] + rows[-3:]:
                say(f"      {change:+.2%} {case}: {[float(f'{each:.5g}') for each in alone]}, {[float(f'{each:.5g}') for each in both]}")
    return True


def settling(options):
    """A board that the baseline does not know."""
    of_base, of_run = options.devices.split(",")[0], options.devices.split(",")[-1]
    write_kernels()
    write_suite(["gpu_time"], {"gpu_time": "0.5%"}, [32768])
    pathlib.Path("ci.yaml").write_text("backend: cuda\npolicy: {not_shown: fail}\nbuilds: builds\n")
    said, seconds = perfgate("baseline", "refresh", "work.yaml", "--config", "ci.yaml", "--backend", "cuda", "--quiet", "--processes",
                             str(options.processes), device=of_base)
    say(f"baseline: {seconds:.1f} s on device {of_base}, for runs on {of_run}\n{said.rstrip()[:1500]}")
    if of_base == of_run:
        for path in pathlib.Path("baselines").glob("*/work.json"):
            baseline = json.loads(path.read_text())
            for case in baseline["cases"].values():
                case["provenance"]["board"] = "another"
                for series in case["metrics"].values():
                    series["device"] = "another"
                    series["value"] *= 0.99
                    for key in set(series) & {"processes", "slowest_tenth", "p99"}:
                        series[key] = [value * 0.99 for value in series[key]]
            path.write_text(json.dumps(baseline))
    fine, longest = True, 0
    for state in options.states:
        if time.monotonic() - START + longest > options.seconds:
            say("no time left")
            return False
        work, builds = STATES[state]
        write_kernels(work, 1)
        found, counts, seconds, said = run(["work.yaml"], f"run-{state}", "--config", "ci.yaml", "--set", f"builds={builds}", device=of_run,
                                           until="settling took")
        longest = max(longest, seconds)
        document = json.loads(pathlib.Path(f"run-{state}/run.json").read_text())
        spent = document["phase_s"]["settling"]
        settled = sum("settled here" in row.get("sentence", "") for row in found.values())
        say(f"{state}: {seconds:.1f} s, of which settling {spent:.1f} s; {counts}, {settled} settled")
        say(f"      phases: { {phase: round(each, 1) for phase, each in document['phase_s'].items() if each >= 0.1} }")
        for (case, _), row in found.items():
            say(f"      {case}: {row['verdict']} {row.get('change', 0):+.2%}" + ("" if "settled here" in row.get("sentence", "") else ", not settled"))
        for line in said.splitlines():
            if "not settled" in line or "another board" in line:
                say("      " + line)
        if state == "same":
            right = not counts.get("regressed")
        elif builds == "builds":
            right = counts.get("regressed", 0) >= 0.9 * len(found)
        else:
            right = not counts.get("pass") and not settled
        fine = fine and right and spent <= 60 and not document["interrupted"]
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=("counters", "suites", "together", "settling"), metavar="PART")
    parser.add_argument("--seconds", type=float, default=250, help="no run begins that would end later")
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--devices", default="0", metavar="BOARD[,OTHER]", help="as in CUDA_VISIBLE_DEVICES")
    parser.add_argument("--states", nargs="+", choices=STATES, default=list(STATES), metavar="STATE", help="of settling: " + ", ".join(STATES))
    parser.add_argument("--processes", type=int, default=20, help="of settling's baseline")
    parser.add_argument("--suites", nargs="+", default=["softmax", "transpose", "interpolate"], metavar="NAME")
    parser.add_argument("--keep", metavar="FOLDER", help="where results stay")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        where = pathlib.Path(options.keep or folder).resolve()
        fine = []
        for part in options.parts:
            (where / part).mkdir(parents=True, exist_ok=True)
            os.chdir(where / part)
            fine.append({"counters": counters, "suites": suites, "together": together, "settling": settling}[part](options))
        os.chdir("/")
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
