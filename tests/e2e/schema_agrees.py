#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds configs/*.schema.json to what the parser accepts and refuses.

The corpus is tests/data/suites/cases.txt, which the parser's own test reads too; the repository's
suites and profiles must validate as well. Exit code 77: skipped, a package is missing.
"""

import json
import pathlib
import re
import sys

try:
    import jsonschema
    import yaml
except ImportError as error:
    print(f"skipped: {error.name} is missing; install python3-jsonschema and python3-yaml")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Yaml12Loader(yaml.SafeLoader):
    """PyYAML reads YAML 1.1; the numbers and booleans of the core schema of 1.2 are ours."""


Yaml12Loader.yaml_implicit_resolvers = {}
for tag, pattern, first in [
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("float", r"[-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN", "-+."),
]:
    Yaml12Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), list(first)
    )


def blocks(text):
    """(line, header, yaml) of each block."""
    parts = re.split(r"^### (.*)\n", text, flags=re.MULTILINE)
    line = 1
    for header, body in zip(parts[1::2], parts[2::2]):
        yield line, header, body
        line += 1 + body.count("\n")


def validator(name):
    schema = json.loads((ROOT / "configs" / name).read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def problem(checker, text):
    """The first thing that the schema has against the YAML, or None."""
    error = next(iter(checker.iter_errors(yaml.load(text, Yaml12Loader))), None)
    return None if error is None else f"{list(error.absolute_path)}: {error.message}"


def main():
    failures = []
    count = 0

    suites = validator("suite.schema.json")
    corpus = ROOT / "tests" / "data" / "suites" / "cases.txt"
    for line, header, text in blocks(corpus.read_text()):
        count += 1
        found = problem(suites, text)
        should_refuse = header.startswith("structure ")
        if should_refuse != (found is not None):
            failures.append(f"{corpus}:{line}: {header}: the schema says: {found or 'good'}")

    checked = [(suites, path) for path in sorted((ROOT / "suites").glob("*.yaml"))]
    profiles = validator("config.schema.json")
    checked += [(profiles, path) for path in sorted((ROOT / "configs").glob("*.yaml"))]
    for checker, path in checked:
        count += 1
        found = problem(checker, path.read_text())
        if found is not None:
            failures.append(f"{path}: {found}")
    for text in ("backend: gpu", "polocy: {}", "policy: {no_baseline: pass}", "out: ''", "- a"):
        count += 1
        if problem(profiles, text) is None:
            failures.append(f"the profile schema accepts: {text}")

    for failure in failures:
        print(failure)
    print(f"{count} files and blocks, {len(failures)} disagreements")
    return 1 if failures or count < 150 else 0


if __name__ == "__main__":
    sys.exit(main())
