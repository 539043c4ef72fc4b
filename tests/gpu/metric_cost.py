# SPDX-License-Identifier: Apache-2.0
"""On a GPU: what each optional metric costs, in seconds per case, beside `gpu_time` alone. Prints a table row by row.

    metric_cost.py [--rounds 2] [--keep DIR] [METRIC...]

The kernels of energy_study.py in one process. Before and after each metric they are measured without it; a ratio is
the time with the metric over the mean of these two. Environment: PERFGATE."""

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile

import energy_study

METRICS = ("submit_time", "api_calls", "memory_peak", "leak", "code_size", "stack", "waves", "sm_active", "ceiling_share",
           "energy")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("metrics", nargs="*", default=METRICS, metavar="METRIC")
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--keep", type=pathlib.Path, metavar="DIR")
    chosen = options.parse_args()
    if not os.path.exists("/dev/nvidiactl"):
        print("skipped: no NVIDIA GPU on this machine (/dev/nvidiactl is absent)")
        return 77
    folder = chosen.keep or pathlib.Path(tempfile.mkdtemp(prefix="perfgate-"))
    folder.mkdir(parents=True, exist_ok=True)

    # The first run of all, from the disk, counts for nothing.
    energy_study.measured(folder, "first", "gpu_time", 1)
    found = {}
    for number in range(chosen.rounds):
        cases, before = energy_study.measured(folder, f"gpu_time-{number}", "gpu_time", 1)
        for metric in chosen.metrics:
            own, seconds = energy_study.measured(folder, f"{metric}-{number}", f"gpu_time, {metric}", 1)
            _, after = energy_study.measured(folder, f"after-{metric}-{number}", "gpu_time", 1)
            plain, before = (before + after) / 2, after
            missing = {entry["reason"] for case in own for entry in case.get("not_collected", [])}
            found.setdefault(metric, []).append({"seconds_per_case": (seconds - plain) / len(cases),
                                                 "ratio": seconds / plain, "not_collected": sorted(missing)})
            print(f"{metric}: {found[metric][-1]}", flush=True)
            (folder / "costs.json").write_text(json.dumps(found, indent=1) + "\n")
    print(f"\n| metric, {len(cases)} cases, {chosen.rounds} rounds | seconds per case | of the run without it | |\n"
          "|---|--:|--:|---|")
    for metric, rounds in found.items():
        costs, ratios = ([each[key] for each in rounds] for key in ("seconds_per_case", "ratio"))
        reasons = {reason for each in rounds for reason in each["not_collected"]}
        print(f"| `{metric}` | {statistics.median(costs):+.3f} ({min(costs):+.3f} to {max(costs):+.3f}) | "
              f"{statistics.median(ratios):.2f} × | {'; '.join(sorted(reasons))} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
