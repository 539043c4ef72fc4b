# SPDX-License-Identifier: Apache-2.0
"""Small documents to start fuzzing from: seeds.py PART REPOSITORY FOLDER."""

import json
import pathlib
import sys

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
