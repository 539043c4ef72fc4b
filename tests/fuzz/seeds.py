# SPDX-License-Identifier: Apache-2.0
"""Small documents to start fuzzing from: seeds.py PART REPOSITORY FOLDER."""

import json
import pathlib
import struct
import sys
import zlib

part, root, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])


def write(name, document):
    (folder / name).write_text(json.dumps(document))


def few_cases(document, key):
    for suite in document["suites"]:
        suite[key] = suite[key][:2]
    return document


def values_alone(document):
    """As version 2 has it: what is one value of the first process has no batches."""
    document["version"] = 2
    for case in document["suites"][0]["cases"]:
        alone = [series for series in case.get("metrics", {}).values()
                 if [batch["samples"] for batch in series["batches"]] == [[series["value"]]]]
        for series in alone:
            (batch,) = series.pop("batches")
            case["once"] = {"device": batch["device"], "seed": batch["seed"]}
    return document


class Recording:
    """perfgate.activity, as harness/activity/format.hpp and record.hpp have it."""

    def __init__(self):
        self.bytes = b"perfgate.activity".ljust(20, b"\0") + struct.pack("<I", 1)
        self.block(1, text("pid") + text("12") + text("command") + text("./app"))

    def block(self, kind, payload):
        checksum = zlib.crc32(payload, zlib.crc32(struct.pack("<II", kind, len(payload))))
        self.bytes += struct.pack("<IIII", 0x42414750, kind, len(payload), checksum) + payload
        return self

    def strings(self, *texts):
        return self.block(2, b"".join(struct.pack("<I", number) + text(each)
                                      for number, each in enumerate(texts, 1)))

    def end(self, launches):
        return self.block(17, struct.pack("<12Q", launches, *10 * [0], 1)).block(19, text("exit"))


def text(value):
    return struct.pack("<I", len(value)) + value.encode()


def place(correlation):
    return struct.pack("<4I", 0, 1, 7, correlation)


def marker(time, number, kind, name):
    return struct.pack("<Q6I", time, number, kind, name, 0, 1, 0)


def recording(steps):
    """Ranges with a kernel of a graph, two outside, a copy, a memset and a synchronisation."""
    made = Recording().strings("step", "gemm", "softmax", "cudaStreamSynchronize_v3020", "c0de")
    made.block(3, b"".join(struct.pack("<16I", number, number + 1, 8, 1, 1, 128, 1, 1, 0, 0, 0, 32, 0, 64, 0, 0)
                           for number in (1, 2)))
    made.block(15, struct.pack("<2I", 2, 5))
    for step in range(steps):
        now, first = 1000 + 100 * step, 10 * step + 1
        made.block(11, marker(now, step + 1, 0, 1) + marker(now + 90, step + 1, 1, 0))
        made.block(9, b"".join(struct.pack("<Q2I", now + number, 1, first + number) for number in range(5)))
        made.block(4, b"".join(
            struct.pack("<2Q", now + 10 * number, now + 10 * number + 8) + place(first + number) +
            struct.pack("<Q4I", number // 2, number // 2, 0, 1 + number % 2, 0) for number in range(3)))
        made.block(5, struct.pack("<3Q", now + 40, now + 50, 4096) + place(first + 3) +
                   struct.pack("<Q2I4BI", 0, 0, 0, 1, 1, 3, 1, 0))
        made.block(6, struct.pack("<3Q", now + 50, now + 60, 64) + place(first + 4) + struct.pack("<Q2I", 0, 0, 0))
        made.block(8, struct.pack("<2Q4I", now + 60, now + 80, 4, 1, first + 5, 0))
        made.block(7, struct.pack("<2Q4I", now + 60, now + 80, 3, first + 5, 1, 7))
    return made.end(2 * steps).bytes


runs = [few_cases(json.loads(file.read_text()), "cases")
        for file in sorted(root.glob("tests/data/aa/*/*.run.json"))]
if part == "run":
    for number, run in enumerate(runs):
        write(f"run-{number}.json", run)
        write(f"run-{number}-alone.json", values_alone(run))
elif part == "baseline":
    for number, file in enumerate(sorted(root.glob("baselines/*/*.json"))):
        baseline = json.loads(file.read_text())
        cases = baseline["cases"]
        baseline["cases"] = cases[:2] if isinstance(cases, list) else dict(list(cases.items())[:2])
        for case in baseline["cases"].values():
            case["kernels"] = case.get("kernels", [])[:3]
        write(f"baseline-{number}.json", baseline)
elif part == "suite":
    for file in sorted(root.glob("suites/*.yaml")):
        (folder / file.name).write_text(file.read_text())
    blocks = (root / "tests/data/suites/cases.txt").read_text().split("### ")[1:]
    for number, block in enumerate(blocks):
        (folder / f"case-{number}.yaml").write_text(block.partition("\n")[2])
elif part == "benchmark":
    for file in (root / "tests/data/benchmarks").iterdir():
        (folder / file.name).write_text(file.read_text())
elif part == "activity":
    for steps in (0, 1, 3):
        (folder / f"steps-{steps}.activity").write_bytes(recording(steps))
else:
    case = runs[0]["suites"][0]["cases"][0]
    for name in ("describe", "diagnose", "board_state", "ceilings"):
        write(f"request-{name}", {"do": name})
    write("request-devices", {"do": "devices", "wanted": "0,1"})
    write("request-facts", {"do": "facts", "cases": [case]})
    write("request-measure", {"do": "measure", "result": case, "settings": {}})
    write("request-counters", {"do": "counters", "jobs": [{"result": case, "settings": {}}]})
    write("reply-phase", {"reply": "phase", "phase": "timing"})
    write("reply-measure", {"reply": "measure", "result": case, "device_lost": False})
    write("reply-counters", {"reply": "counters", "results": [case]})
    write("reply-ceilings", {"reply": "ceilings", "ceilings": runs[0]["environment"]})
    write("reply-board_state", {"reply": "board_state", "environment": runs[0]["environment"]})
    write("reply-describe", {"reply": "describe",
                             "capabilities": {"environment": runs[0]["environment"]}})
    write("reply-failed", {"reply": "failed", "message": "no", "usage": True, "device_lost": False})
