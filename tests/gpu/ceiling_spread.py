# SPDX-License-Identifier: Apache-2.0
"""How much cases differ between boards: by gpu_time, and by the share of their ceiling. Needs no GPU.

    ceiling_spread.py [--cases] RUN.json...

Run documents of several boards, told apart by the board's id. Of a board with several runs the median counts. Prints,
for each kind of GPU and for all of them, the spread (largest less smallest, over the median) of both, and with
--cases that of each case."""

import argparse
import collections
import json
import pathlib
import statistics
import sys


def ceiling_share(case, ceilings):
    """In %; as measured or, where the run did not ask for it, by the formula of harness/model/roofline.hpp."""
    measured = case["metrics"].get("ceiling_share")
    if measured:
        return measured["value"]
    work, seconds = case.get("work", {}), case["metrics"]["gpu_time"]["value"] * 1e-9
    least = [work.get("bytes", 0) / ceilings["copy_bytes_per_s"]] if "copy_bytes_per_s" in ceilings else []
    if work.get("flops"):
        rate = ceilings.get("matrix_flops_per_s", {}).get(work.get("arithmetic"))
        if not rate:
            return None
        least.append(work["flops"] / rate)
    return 100 * max(least, default=0) / seconds or None


def by_board(runs):
    """(kind, board) -> (suite, case) -> time in ns and share in %, the medians of the board's runs."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    for path in runs:
        run = json.loads(path.read_text())
        device = run["environment"]["device"]
        for suite in run["suites"]:
            for case in suite["cases"]:
                if case["status"] == "measured" and "gpu_time" in case["metrics"]:
                    share = ceiling_share(case, run["environment"].get("ceilings", {}))
                    if share is not None:
                        found[device["name"], device["board"]][suite["name"], case["id"]].append(
                            (case["metrics"]["gpu_time"]["value"], share))
    return {board: {case: tuple(map(statistics.median, zip(*values))) for case, values in cases.items()}
            for board, cases in found.items()}


def spread(values):
    return (max(values) - min(values)) / statistics.median(values)


def spreads(boards):
    """(suite, case) -> spreads of time and share, of the cases that several of these boards have."""
    values = collections.defaultdict(list)
    for board in boards:
        for case, both in board.items():
            values[case].append(both)
    return {case: tuple(map(spread, zip(*found))) for case, found in sorted(values.items()) if len(found) > 1}


def percent(value):
    return f"{100 * value:.2f} %"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=pathlib.Path, metavar="RUN.json")
    parser.add_argument("--cases", action="store_true")
    chosen = parser.parse_args()
    boards = by_board(chosen.runs)
    kinds = {kind: [board for board in boards if board[0] == kind] for kind in sorted({kind for kind, _ in boards})}
    if len(kinds) > 1:
        kinds["all"] = list(boards)
    print("| GPU | boards | cases | gpu_time: median | 90 % | largest | ceiling_share: median | 90 % | largest | "
          "share spreads less in |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    tables = {}
    for kind, members in kinds.items():
        tables[kind] = found = spreads([boards[board] for board in members])
        if not found:
            print(f"| {kind} | {len(members)} | 0 | no case was measured on two boards |")
            continue
        columns = []
        for values in zip(*found.values()):
            ordered = sorted(values)
            columns += [percent(statistics.median(ordered)), percent(ordered[int(0.9 * (len(ordered) - 1))]),
                        percent(ordered[-1])]
        less = sum(1 for time, share in found.values() if share < time)
        print(f"| {kind} | {len(members)} | {len(found)} | {' | '.join(columns)} | {less} of {len(found)} |")
    if chosen.cases:
        for kind, found in tables.items():
            print(f"\n{kind}\n\n| suite | case | gpu_time | ceiling_share |\n|---|---|--:|--:|")
            for (suite, case), (time, share) in found.items():
                print(f"| {suite} | `{case}` | {percent(time)} | {percent(share)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
