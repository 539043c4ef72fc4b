# SPDX-License-Identifier: Apache-2.0
"""Random edits of baselines and profiles against `perfgate review`: where a regression of +50 % fails before an edit and
passes after it, as `perfgate compare` says, review must list the edit.

    test_review_campaign.py          # a bounded run, as CI does it
    test_review_campaign.py --long   # 2,000 edits
"""

import collections
import concurrent.futures
import copy
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

import adversary
import mutation
import tool

KEY = "nvidia-h200"
RUN = tool.SOURCE / f"tests/data/runs/{KEY}/softmax-1.run.json"
BASELINE = tool.SOURCE / f"baselines/{KEY}/softmax.json"
WIDTH = "width=2048]"
VICTIM = f"softmax/online[dtype=f32,rows=4096,{WIDTH}"
EDITS = 2000 if adversary.LONG else 100
SEED = 20261126
NEW_BOARD = "0123456789abcdef"
HEADS_CODE = "feedfeedfeedfeedfeedfeedfeedfeed"


def expanded(series):
    """The series with one batch per process, as an editor of it would like them."""
    if "batches" in series:
        return series
    series = dict(series)
    runs = [run for run, count in enumerate(series.pop("runs", [])) for _ in range(count)]
    values = series.pop("processes", None)
    count = series.pop("repeated", len(values or [0]))
    values = values or [series["value"]] * count
    clocks = series.pop("sm_clock_mhz", [None] * count)
    shared = {key: series.pop(key) for key in ("device", "seed") if key in series}
    series["batches"] = []
    for process, value in enumerate(values):
        batch = {"process": process, **shared, "samples": [value]}
        if runs and runs[process]:
            batch["run"] = runs[process]
        if clocks[process] is not None:
            batch["sm_clock_mhz"] = clocks[process]
        series["batches"].append(batch)
    return series


def base_baseline():
    document = json.loads(BASELINE.read_text())
    document["cases"] = {id: case for id, case in document["cases"].items() if id.endswith(WIDTH)}
    for case in document["cases"].values():
        case["metrics"] = {name: expanded(series) for name, series in case["metrics"].items()
                           if name in ("gpu_time", "cycles", "registers", "dram_bytes", "instructions",
                                       "local_bytes", "spill_sectors", "sectors_per_request_load")}
    return document


def boards_of(document):
    return sorted({batch["device"] for case in document["cases"].values()
                   for batch in case["metrics"]["gpu_time"]["batches"]})


def set_median(series):
    values = [value for batch in series["batches"] for value in batch["samples"]]
    if values:
        series["value"] = statistics.median(values)


def head(baseline, board, of_board, slower=(), processes=20):
    """A run that repeats the baseline's values of a board, of other code; the victim's metrics `slower` by half."""
    run = json.loads(RUN.read_text())
    run["environment"]["device"]["board"] = board
    run["environment"]["driver"] = baseline["cases"][VICTIM]["provenance"]["driver"]
    suite = run["suites"][0]
    suite["partial"] = True
    suite["relations"] = []
    suite["cases"] = [case for case in suite["cases"] if case["id"] in baseline["cases"]]
    for case in suite["cases"]:
        expected = baseline["cases"][case["id"]]
        # All but the code is the baseline's, so that an edited fingerprint makes it "nothing changed".
        case["host_code"] = HEADS_CODE
        case["kernels"] = [{**kernel, "code": HEADS_CODE} for kernel in expected.get("kernels", [])]
        case["libraries"] = expected["libraries"]
        case["memory_operations"] = expected["memory_operations"]
        case.pop("once", None)
        case.pop("readings", None)
        case.pop("work", None)
        case["gates"] = [gate for gate in case["gates"] if gate["metric"] in expected["metrics"]]
        metrics = {}
        for name, series in expected["metrics"].items():
            series = copy.deepcopy(series)
            if name == "gpu_time":
                own = [batch for batch in series["batches"] if batch["device"] == of_board]
                series["batches"] = own[:processes]
            else:
                series["batches"] = series["batches"][:1]
            for process, batch in enumerate(series["batches"]):
                batch.update(process=process, device=board)
                batch.pop("run", None)
                if case["id"] == VICTIM and name in slower:
                    batch["samples"] = [1.5 * sample for sample in batch["samples"]]
            set_median(series)
            metrics[name] = series
        case["metrics"] = metrics
    return run


# Edits of a baseline's case.

def times_of(case):
    return case["metrics"].get("gpu_time", {"batches": [], "value": 0})


def any_series(rng, case):
    names = [name for name, series in case["metrics"].items() if "batches" in series]
    return case["metrics"][rng.choice(names)] if names else {"batches": [], "value": 0}


def raise_all(rng, case):
    series = rng.choice((times_of(case), any_series(rng, case)))
    factor = rng.choice((1.01, 1.05, 1.2, 1.45, 1.5, 2, 0.9))
    for batch in series["batches"]:
        batch["samples"] = [factor * sample for sample in batch["samples"]]
    if rng.random() < 0.8:
        set_median(series)


def raise_some(rng, case):
    series = rng.choice((times_of(case), any_series(rng, case)))
    factor = rng.choice((1.1, 1.3, 1.6, 3, 0.5))
    chosen = sorted(series["batches"], key=lambda batch: batch["samples"])
    chosen = chosen[-int(len(chosen) * rng.choice((0.02, 0.2, 0.49, 0.6))) - 1:]
    keep = series["value"]
    for batch in chosen:
        batch["samples"] = [factor * sample for sample in batch["samples"]]
    set_median(series)
    if rng.random() < 0.3:
        series["value"] = keep


def raise_board(rng, case):
    series = times_of(case)
    boards = sorted({batch["device"] for batch in series["batches"]})
    if boards:
        board, factor = rng.choice(boards), rng.choice((1.1, 1.5, 1.8))
        for batch in series["batches"]:
            if batch["device"] == board:
                batch["samples"] = [factor * sample for sample in batch["samples"]]


def with_noise(rng, case):
    """Measured anew, as it seems."""
    for batch in times_of(case)["batches"]:
        batch["samples"] = [sample * rng.uniform(0.995, 1.005) for sample in batch["samples"]]
    set_median(times_of(case))


def clock(rng, case):
    series = times_of(case)
    mhz = rng.choice((None, 1000, 1900, 2300, 2970, 3000, 3000, 9000))
    only = rng.choice((None, None, *(batch["device"] for batch in series["batches"][:1])))
    for batch in series["batches"]:
        if only and batch["device"] != only:
            continue
        batch.pop("sm_clock_mhz", None)
        if mhz:
            batch["sm_clock_mhz"] = mhz


def cycles(rng, case):
    series = case["metrics"].get("cycles")
    if series is None:
        return
    if rng.random() < 0.2:
        del case["metrics"]["cycles"]
        return
    factor = rng.choice((0.5, 1.2, 1.5, 3))
    for batch in series["batches"]:
        batch["samples"] = [factor * sample for sample in batch["samples"]]
    set_median(series)


def code(rng, case):
    value = rng.choice((HEADS_CODE, HEADS_CODE, HEADS_CODE, "other"))
    what = rng.choice(("kernels", "host", "both", "both", "both", "both"))
    if what != "host":
        for kernel in case.get("kernels", []):
            kernel["code"] = value
    if what != "kernels":
        case["host_code"] = value


def lose_code(rng, case):
    case.pop(rng.choice(("kernels", "host_code", "libraries", "memory_operations")), None)


def rename_board(rng, case):
    boards = sorted({batch["device"] for series in case["metrics"].values()
                     for batch in series.get("batches", []) if "device" in batch})
    if not boards:
        return
    board = rng.choice(boards)
    name = rng.choice((NEW_BOARD, "ffffffffffffffff", *boards))
    for series in case["metrics"].values():
        for batch in series.get("batches", []):
            if batch.get("device") == board:
                batch["device"] = name
    if case["provenance"].get("board") == board and rng.random() < 0.7:
        case["provenance"]["board"] = name


def add_board(rng, case):
    series = times_of(case)
    if not series["batches"]:
        return
    name, factor = rng.choice((NEW_BOARD, "cccccccccccccccc")), rng.choice((1, 1.3, 1.5, 1.5, 2))
    last = max(batch["process"] for batch in series["batches"])
    for number, batch in enumerate(copy.deepcopy(series["batches"][:rng.choice((2, 20, 40))])):
        batch.update(device=name, process=last + 1 + number, run=9,
                     samples=[factor * sample for sample in batch["samples"]])
        series["batches"].append(batch)
    if rng.random() < 0.5:
        set_median(series)


def drop_some(rng, case):
    series = rng.choice((times_of(case), any_series(rng, case)))
    ordered = sorted(series["batches"], key=lambda batch: batch["samples"])
    kept = rng.choice((1, 2, 5, len(ordered) // 2, max(len(ordered) - 1, 1)))
    series["batches"] = ordered[-kept:] if rng.random() < 0.7 else ordered[:kept]
    set_median(series)


def batch_fields(rng, case):
    series = times_of(case)
    field, values = rng.choice((("run", (0, 1, 2, 3, 9)), ("round", (0, 1, 2)), ("seed", (1, 2)),
                                ("excluded", ("throttled",)), ("process", (0, 1))))
    for batch in series["batches"]:
        if rng.random() < rng.choice((0.1, 0.5, 1)):
            batch[field] = rng.choice(values)


def method_or_unit(rng, case):
    series = rng.choice((times_of(case), any_series(rng, case)))
    series[rng.choice(("method", "unit"))] = rng.choice(("activity/hot", "us", "wall", ""))


def provenance(rng, case):
    key = rng.choice(("driver", "cuda_toolkit", "cupti", "tool_version", "board", "recorded_at"))
    if rng.random() < 0.3:
        case["provenance"].pop(key, None)
    else:
        case["provenance"][key] = rng.choice(("1.2.3", NEW_BOARD, "590.1"))


def acknowledge(rng, case):
    metric = rng.choice(list(case["metrics"]) or ["gpu_time"])
    if metric not in case["metrics"]:
        return
    known = copy.deepcopy(case["metrics"][metric])
    for batch in known.get("batches", []):
        batch["samples"] = [1.6 * sample for sample in batch["samples"]]
    if "batches" in known:
        set_median(known)
    case.setdefault("acknowledged", {})[metric] = {
        "until": rng.choice(("2026-12-31", "2026-12-01", "2030-01-01")), "by": "x", "reason": "y",
        "known": known}


def measured_as(rng, case):
    case["measured_as"] = rng.choice(({"command": "./less"}, {"values.x": "1"}, {}))


def lose_metric(rng, case):
    case["metrics"].pop(rng.choice(list(case["metrics"]) or [""]), None)


def anchors_or_tags(rng, case):
    case[rng.choice(("anchors", "tags"))] = rng.choice(({}, [], None)) or {}
    if not isinstance(case.get("tags", []), list):
        case["tags"] = []


CASE_EDITS = (raise_all, raise_some, raise_some, raise_board, with_noise, clock, clock, cycles, code, code,
              lose_code, rename_board, rename_board, add_board, add_board, drop_some, batch_fields,
              method_or_unit, provenance, acknowledge, measured_as, lose_metric, anchors_or_tags)


def edited_baseline(rng, document):
    """The text, and the names of the edits."""
    document = copy.deepcopy(document)
    ids = sorted(document["cases"])
    if rng.random() < 0.05:
        return mutation.restructure(rng, json.dumps(document).encode()).decode(), ["restructure"]
    names = []
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        edit = rng.choice(CASE_EDITS)
        names.append(edit.__name__)
        chosen = rng.choice(([VICTIM], [VICTIM], [VICTIM], ids, [id for id in ids if id != VICTIM]))
        seed = rng.random()
        for id in chosen:
            edit(random.Random(seed) if len(chosen) > 1 else rng, document["cases"][id])
    if rng.random() < 0.03:
        del document["cases"][rng.choice(ids)]
        names.append("remove")
    if rng.random() < 0.03:
        document["device"][rng.choice(("name", "key", "memory_bytes", "multiprocessors"))] = rng.choice(("x", 1))
        names.append("device")
    return json.dumps(document), names


# Edits of a profile.

PROFILE = {"policy": {"no_baseline": "fail", "inconclusive": "pass", "not_shown": "fail"}, "prove": "true",
           "backend": "cuda", "baselines": "baselines"}
POLICY_VALUES = {
    "no_baseline": ("skip", "fail"), "inconclusive": ("pass", "fail"), "not_shown": ("pass", "fail"),
    "false_alarms": ("0.1%", "0.0001%", "0.000001%", "5%"), "rounds": ("0", "1", "2", "5", "10"),
    "acknowledgement_days": ("1", "90", "3650"), "improved": ("pass", "fail"), "improvement_days": ("1", "30", "3650"),
    "severity": ("{timing: warn}", "{exact: warn}", "{counter: warn}", "{timing: fail}",
                 "{timing: warn, exact: warn, counter: warn}"),
    "changed": ("{board: refuse}", "{board: accept}", "{driver: refuse}", "{tool_version: refuse}",
                "{cuda_toolkit: refuse}", "{cupti: accept}")}
PROFILE_VALUES = {"processes": ("1", "3", "40"), "creep": ("1%", "100%"), "canary": ("true", "false"),
                  "prove": ("true", "false"), "changed_only": ("true", "false"),
                  "baselines": ("baselines", "elsewhere"), "backend": ("cuda", "host", "auto"),
                  "junit_profile": ("github", "strict")}


def profile_text(profile):
    lines = [f"{key}: {value}" for key, value in profile.items() if key != "policy"]
    lines += ["policy:", *(f"  {key}: {value}" for key, value in profile["policy"].items())]
    return "\n".join(lines) + "\n"


def edited_profile(rng, profile):
    profile = copy.deepcopy(profile)
    names = []
    for _ in range(rng.choice((1, 1, 2))):
        part, values = rng.choice(((profile["policy"], POLICY_VALUES), (profile["policy"], POLICY_VALUES),
                                   (profile, PROFILE_VALUES)))
        key = rng.choice(list(values))
        names.append(f"profile {key}")
        if key in part and rng.random() < 0.3:
            del part[key]
        else:
            part[key] = rng.choice(values[key])
    if not profile["policy"]:
        profile["policy"]["rounds"] = "2"
    return profile_text(profile), names


class State:
    """A repository whose commit has the base's state, and the planted heads."""

    profile_path, baseline_path = "configs/ci.yaml", f"baselines/{KEY}/softmax.json"

    def __init__(self, profile):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="perfgate-"))
        self.profile = profile
        (self.folder / "suites").mkdir()
        shutil.copy(tool.SOURCE / "suites/softmax.yaml", self.folder / "suites")
        document = base_baseline()
        self.boards = boards_of(document)
        own = self.boards[0]
        self.document = document
        self.texts = {self.profile_path: profile_text(profile), self.baseline_path: json.dumps(document)}
        for path in self.texts:
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        self.restore()
        for words in (("init", "-q", "-b", "main"), ("add", "--all"), ("commit", "-q", "-m", "base")):
            subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=self.folder,
                           check=True, capture_output=True)
        # The plain head is not slower: it passes, so that it is the regression that fails the others.
        self.heads = {"plain": head(document, own, own), "own": head(document, own, own, ("gpu_time",)),
                      "new": head(document, NEW_BOARD, own, ("gpu_time",)),
                      "counts": head(document, own, own, ("instructions", "dram_bytes", "registers"))}
        for name, run in self.heads.items():
            (self.folder / f"{name}.json").write_text(json.dumps(run))
        self.before = {name: self.compare(name) for name in self.heads}

    def restore(self):
        for path, text in self.texts.items():
            (self.folder / path).write_text(text)

    def run(self, *words):
        return subprocess.run([tool.PERFGATE, *words], cwd=self.folder, capture_output=True, text=True,
                              timeout=tool.PATIENCE_S,
                              env={**os.environ, "PERFGATE_LOCK_DIR": str(self.folder / "locks")})

    def compare(self, name):
        return self.run("compare", f"{name}.json", "--baselines", "baselines", "--config",
                        self.profile_path).returncode

    def passes_now(self):
        return [name for name, code in self.before.items() if code != 0 and self.compare(name) == 0]

    def review(self):
        """Its exit code, and what it lists."""
        done = self.run("review", "--base", "rev:main", "--report", "json:-")
        return done.returncode, json.loads(done.stdout)["findings"] if done.stdout else []

    def end(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def names_the_edit(finding, path):
    """The victim, or something larger than a case."""
    return finding["file"] == path and VICTIM in finding.get("cases", [VICTIM])


def attempt(state, seed):
    """One edit: its names, which heads pass, and what review did wrong about it."""
    rng = random.Random(seed)
    path = state.profile_path if rng.random() < 0.25 else state.baseline_path
    text, names = (edited_profile(rng, state.profile) if path == state.profile_path
                   else edited_baseline(rng, state.document))
    try:
        (state.folder / path).write_text(text)
        passing = state.passes_now()
        if not passing:
            return names, passing, ""
        code, findings = state.review()
        listed = [finding for finding in findings if names_the_edit(finding, path)]
        if code != 1 or not listed:
            return names, passing, f"exit {code}, lists {[finding['kind'] for finding in findings]}"
        kinds = {finding["kind"] for finding in listed}
        return names, passing, "" if kinds != {"baseline refreshed"} else "refreshed"
    finally:
        state.restore()


def campaign(worker):
    number, seeds = worker
    # Two profiles: that of CI, and one that neither proves its gates nor fails what is not shown.
    state = State(PROFILE if number % 2 == 0 else {
        "backend": "cuda", "baselines": "baselines", "policy": {"no_baseline": "fail"}})
    try:
        if state.before["plain"] != 0 or 0 in (state.before[name] for name in ("own", "new", "counts")):
            return [(0, ["base"], [], f"the heads do not do what they should: {state.before}")]
        return [(seed, *attempt(state, seed)) for seed in seeds]
    finally:
        state.end()


class Campaign(tool.Case):
    def test_an_edit_that_lets_a_regression_pass_is_listed(self):
        workers = 2
        seeds = [SEED + i for i in range(EDITS)]
        parts = [(number, seeds[number::workers]) for number in range(workers)]
        with concurrent.futures.ProcessPoolExecutor(workers) as pool:
            done = [one for part in pool.map(campaign, parts) for one in part]
        missed = [one for one in done if one[3] not in ("", "refreshed")]
        passed = [one for one in done if one[2]]
        kinds = collections.Counter(name for one in passed for name in one[1])
        summary = (f"{len(done)} edits, seed {SEED}: {len(passed)} let a regression of +50 % pass, "
                   f"{sum(one[3] == 'refreshed' for one in passed)} of them listed as a refresh; "
                   f"{len(missed)} not listed")
        for name, count in sorted(kinds.items()):
            print(f"  {name}: {count}", file=sys.stderr)
        print(summary, file=sys.stderr)
        self.assertEqual([], missed)
        self.assertGreater(len(passed), EDITS // 50)


if __name__ == "__main__":
    tool.main()
