# SPDX-License-Identifier: Apache-2.0
"""Damaged documents against every verb that reads them.

What holds for each call: no signal, at most 2 s of CPU, an exit code that README.md has. And for what
may end with 0:

- A file that is no JSON any more (where it was) is never taken: not 0.
- Where the gate fails for a reason that the damaged documents still hold, it still fails. The reasons
  are looked for here, by means other than perfgate's (`still_fails`): a case of the baseline that the
  whole run lacks; a case whose result is incorrect; a gated time each sample of which is far beyond
  every sample that is expected. No digest protects a run: whoever may write it can make it pass by
  writing other values, and that is no fault of a reader. Losing, doubling, renaming or retyping
  anything else is no way past the gate."""

import collections
import json
import os
import pathlib
import random
import shutil
import tempfile
import threading

import adversary
import mutation
import tool

CALLS = int(os.environ.get("PERFGATE_ADVERSARY_CALLS", 24000 if adversary.LONG else 1000))
SEED = int(os.environ.get("PERFGATE_ADVERSARY_SEED", "20261122"))

SUITE = """name: small
description: what is damaged
defaults:
  metrics: [host_time]
  tolerances: {host_time: {worse: 3000%, better: 97%}}
  time_budget: 5ms
  cache: hot
workloads:
  - workload: gemm
    variants: [reference]
    tags: [quick]
    params: {dtype: f32, n: 16, k: 16}
    matrix: {m: [16, 17, 18]}
overrides:
  - match: '*m=17*'
    precision: 2%
expect:
  gemm/reference[m=18].host_time: ["> 0 * gemm/reference[m=16].host_time", "< 1 s"]
"""
PROFILE = """backend: host
processes: 8
policy:
  no_baseline: fail
  inconclusive: fail
  rounds: 0
  changed: {driver: refuse}
creep: 10%
"""


class NoJson(ValueError):
    pass


def strict_json(text):
    """The value of a JSON document; what is doubtful is none."""
    def members(pairs):
        if len({key for key, _ in pairs}) != len(pairs):
            raise NoJson("a key twice")
        return dict(pairs)

    def constant(name):
        raise NoJson(name)
    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=members, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise NoJson(str(error)) from error


def samples(series):
    """The values that a series of a run or a baseline holds, in all its ways to write them."""
    found = [series["value"]]
    found += series.get("processes", [])
    for batch in series.get("batches", []):
        found += batch.get("samples", [])
    if not all(isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
               for value in found):
        raise TypeError("no times")
    return found


def is_far_beyond(result, expected):
    """Whether a case's gated time is worse than anything a tolerance in the tests allows."""
    gates = [gate for gate in result["gates"] if gate["metric"] == "host_time"]
    if result["status"] != "measured" or len(gates) != 1 or "acknowledged" in expected:
        return False
    if gates[0] != GATE:
        return False
    measured, known = result["metrics"]["host_time"], expected["metrics"]["host_time"]
    if any(measured[key] != known[key] for key in ("unit", "method")):
        return False
    if any("excluded" in batch or "set_aside" in batch for batch in measured["batches"]):
        return False
    return min(samples(measured)) > 100 * max(samples(known))


GATE = None  # as the run has it; set when the seeds are made


def still_fails(runs, baseline):
    """Why the gate has to fail by what these documents say, or nothing where that is not plain."""
    try:
        for run in runs:
            for suite in run["suites"]:
                if suite["name"] != baseline["suite"]:
                    continue
                cases = {case["id"]: case for case in suite["cases"]}
                for case in cases.values():
                    if case["status"] == "incorrect":
                        return "incorrect"
                for name, expected in baseline["cases"].items():
                    if name in cases and is_far_beyond(cases[name], expected):
                        return "regressed"
                    whole = not suite.get("partial") and "shard" not in run
                    if name not in cases and whole and not run.get("interrupted"):
                        return "missing"
    except (KeyError, TypeError, AttributeError, IndexError):
        pass
    return ""


class Scene:
    """Files by name, the calls that read them, and of each call what it ends with as they are."""

    def __init__(self, name, files, calls):
        self.name, self.files, self.calls = name, files, calls
        self.codes = {}

    def put_down(self, folder, changed=None):
        shutil.rmtree(folder / "store", ignore_errors=True)
        for name, content in {**self.files, **(changed or {})}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def words(self, call, folder):
        return [str(word).replace("@", str(folder) + "/") for word in call]


class Documents(tool.Case):
    clock = "stated"

    @classmethod
    def setUpClass(cls):
        cls.home = pathlib.Path(tempfile.mkdtemp(prefix="perfgate-"))
        cls.addClassCleanup(shutil.rmtree, cls.home, ignore_errors=True)

    @staticmethod
    def steady(path):
        """Gives every sample of a time the median's value: what each scene ends with must not depend on
        what else the machine does."""
        document = json.loads(path.read_bytes())
        for case in document["suites"][0]["cases"]:
            series = case["metrics"]["host_time"]
            for batch in series["batches"]:
                batch["samples"] = [series["value"]] * len(batch["samples"])
        path.write_text(json.dumps(document))

    def scenes(self):
        """What is damaged: measured once, with the real binary."""
        global GATE
        self.write("suite.yaml", SUITE)
        self.write("profile.yaml", PROFILE)
        words = ["suite.yaml", "--backend", "host", "--processes", "8", "--quiet"]
        self.run_tool("run", *words, "--out", "all")
        for shard in ("1/2", "2/2"):
            self.run_tool("run", *words, "--shard", shard, "--out", f"shard{shard[0]}")
        for name in ("all", "shard1", "shard2"):
            self.steady(self.folder / name / "run.json")
        self.run_tool("baseline", "refresh", "all/run.json", "--baselines", "store")
        [path] = (self.folder / "store").rglob("small.json")
        self.run_tool("baseline", "accept", "all/run.json", "--baselines", "store", "--reason", "x",
                      "--reset-anchor")
        key = path.parent.name
        read = lambda name: (self.folder / name).read_bytes()
        run = json.loads(read("all/run.json"))
        GATE = run["suites"][0]["cases"][0]["gates"][0]
        stored, ledger = f"store/{key}/small.json", f"store/{key}/small.ledger.jsonl"

        def scaled(factor):
            document = json.loads(read(stored))
            for case in document["cases"].values():
                series = case["metrics"]["host_time"]
                series["value"] *= factor
                for where in (series, *series.get("batches", [])):
                    for values in ("processes", "samples"):
                        if values in where:
                            where[values] = [value * factor for value in where[values]]
            return json.dumps(document).encode()

        def edited(edit):
            document = json.loads(read("all/run.json"))
            edit(document["suites"][0]["cases"])
            return json.dumps(document).encode()

        judge = ["--config", "@profile.yaml", "--baselines", "@store", "--out", "@out"]
        compare = ["compare", "@run.json", *judge]
        common = {"profile.yaml": PROFILE.encode(), "run.json": read("all/run.json"),
                  stored: read(stored), ledger: read(ledger)}
        shards = {f"shard{number}.json": read(f"shard{number}/run.json") for number in (1, 2)}
        merge = ["compare", "@shard1.json", "@shard2.json", *judge]
        store = ["--baselines", "@store"]
        incorrect = edited(lambda cases: cases[0].update(status="incorrect", reason="off by 3"))
        return [
            Scene("pass", common, [
                compare, ["report", "@run.json", *judge, "--report", "@r.html"],
                ["report", "@run.json", "--why", *judge[:4]], ["baseline", "verify", *store],
                ["baseline", "show", "small", *store, "--device-key", key], ["baseline", "show", "small", "--log", *store],
                ["baseline", "refresh", "@run.json", "--dry-run", *store],
                ["baseline", "refresh", f"@{stored}", "--dry-run", *store],
                ["baseline", "accept", "@run.json", *store, "--reason", "y", "--reset-anchor"],
                ["baseline", "refresh", "@run.json", *store, "--reason", "y"]]),
            Scene("regressed", {**common, stored: scaled(1e-3)}, [compare]),
            Scene("incorrect", {**common, "run.json": incorrect}, [compare]),
            Scene("missing", {**common, "run.json": edited(lambda cases: cases.pop())}, [compare]),
            Scene("shards", {**common, **shards, stored: scaled(1e-3)}, [merge]),
            Scene("suites", {"suite.yaml": SUITE.encode()}, [
                ["validate", "@suite.yaml"], ["list", "@suite.yaml", "--report", "@l.json"]]),
            Scene("prune", {**common, "suite.yaml": SUITE.encode()}, [
                ["baseline", "prune", "@suite.yaml", *store, "--reason", "z"]]),
            Scene("journal", {"suite.yaml": SUITE.encode(), "profile.yaml": PROFILE.encode(),
                              # Without its end: only an interrupted run is resumed.
                              "out/journal.jsonl": b"".join(read("all/journal.jsonl").splitlines(True)[:-1])}, [
                ["run", "@suite.yaml", "--config", "@profile.yaml", "--out", "@out", "--resume",
                 "@out", "--quiet", "--set", "no_baseline=skip"]]),
        ]

    # How often each is called: what starts workers costs most.
    WEIGHTS = {"pass": 30, "regressed": 30, "incorrect": 12, "missing": 12, "shards": 12,
               "suites": 3, "prune": 1, "journal": 0.3}

    def judge(self, scene, call, changed, ended):
        """What is wrong with how this call ended, or nothing."""
        if fault := ended.fault():
            return fault
        if ended.code != 0:
            return ""
        documents = {}
        for name, content in {**scene.files, **changed}.items():
            if not name.endswith(".json"):
                continue
            try:
                documents[name] = strict_json(content)
            except NoJson as error:
                # A refresh replaces what is stored, and the log reads the ledger alone.
                reads_store = "--dry-run" in call or (call[1] != "refresh" and "--log" not in call)
                read = name.startswith("store/") and reads_store or f"@{name}" in call
                return f"exit 0 with {name}, which is no JSON: {error}" if read else ""
        if scene.codes[call_key(call)] == 0:
            return ""
        runs = [document for name, document in documents.items() if not name.startswith("store/")]
        [baseline] = [document for name, document in documents.items() if name.startswith("store/")]
        if reason := still_fails(runs, baseline):
            return f"exit 0, though by what the documents say it is {reason}"
        return ""

    def test_no_damage_crashes_a_verb_holds_it_up_or_gets_past_the_gate(self):
        scenes = self.scenes()
        local = threading.local()
        folders = collections.deque(self.home / str(number) for number in range(64))

        def folder_of_thread():
            if not hasattr(local, "folder"):
                local.folder = folders.popleft()
                local.folder.mkdir()
            return local.folder

        folder = folder_of_thread()
        for scene in scenes:
            for call in scene.calls:
                scene.put_down(folder)
                ended = adversary.call(scene.words(call, folder), folder)
                scene.codes[call_key(call)] = ended.code
                expected = 1 if scene.name in ("regressed", "incorrect", "missing", "shards") else 0
                self.assertEqual(expected, ended.code, (scene.name, call, ended.stderr))
                if expected:
                    documents = {name: strict_json(content) for name, content in scene.files.items()
                                 if name.endswith(".json")}
                    stored = [name for name in documents if name.startswith("store/")][0]
                    self.assertTrue(still_fails(
                        [each for name, each in documents.items() if name != stored],
                        documents[stored]), scene.name)

        totals, codes = collections.Counter(), collections.Counter()
        slowest = [0.0]

        def attack(number):
            rng = random.Random(SEED * 1_000_003 + number)
            folder = folder_of_thread()
            scene = rng.choices(scenes, [self.WEIGHTS[each.name] for each in scenes])[0]
            call = rng.choice(scene.calls)
            name = rng.choice(sorted(scene.files))
            changed = {name: mutation.mutated(rng, scene.files[name])}
            scene.put_down(folder, changed)
            ended = adversary.call(scene.words(call, folder), folder)
            totals[scene.name] += 1
            codes[ended.code] += 1
            slowest[0] = max(slowest[0], ended.cpu_s)
            if fault := self.judge(scene, call, changed, ended):
                kept = pathlib.Path(tempfile.mkdtemp(prefix=f"perfgate-adversary-{number}-"))
                shutil.copytree(folder, kept, dirs_exist_ok=True)
                scene.put_down(kept, changed)
                return f"call {number}, {scene.name}, {name} in {kept}: {fault}: " \
                       f"perfgate {' '.join(scene.words(call, kept))}"
            return ""

        faults = [fault for fault in adversary.in_parallel(CALLS, attack) if fault]
        told = ", ".join(f"{count} {name}" for name, count in sorted(totals.items()))
        ends = ", ".join(f"{count} × exit {code}" for code, count in sorted(codes.items()))
        print(f"{CALLS} damaged documents, seed {SEED}: {told}; {ends}; "
              f"at most {slowest[0]:.2f} s of CPU; {len(faults)} faults", flush=True)
        self.assertEqual([], faults[:20])

    def test_what_is_plain_is_told_from_what_is_not(self):
        """The reasons to fail that the campaign holds perfgate to are found, and only they."""
        global GATE
        GATE = {"metric": "host_time", "tolerance": {"worse": 30}}
        series = lambda value: {"unit": "ns", "value": value, "method": "wall",
                                "batches": [{"samples": [value]}]}
        run = lambda **case: [{"suites": [{"name": "s", "cases": [
            {"id": "a", "status": "measured", "gates": [GATE],
             "metrics": {"host_time": series(1000)}, **case}]}]}]
        known = lambda value: {"suite": "s", "cases": {"a": {"metrics": {"host_time": series(value)}}}}
        self.assertEqual("regressed", still_fails(run(), known(1)))
        self.assertEqual("", still_fails(run(), known(900)))
        self.assertEqual("", still_fails(run(gates=[]), known(1)))
        self.assertEqual("incorrect", still_fails(run(status="incorrect"), known(900)))
        self.assertEqual("missing", still_fails(run(id="b"), known(900)))
        self.assertEqual("", still_fails([{"suites": None}], known(1)))
        for text in (b'{"a":1,"a":2}', b"NaN", b"{", b"\xff", b"1 2", b"[" * 100000):
            with self.assertRaises(NoJson):
                strict_json(text)


def call_key(call):
    return tuple(call)


if __name__ == "__main__":
    tool.main()
