#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Change points of perfgate, Otava, PELT and a fixed threshold, beside each other, in the same series:

    pip install --target FOLDER apache-otava ruptures
    PYTHONPATH=FOLDER python3 tests/bench/history_points.py build/test/bin/perfgate [--kinds walk] [--level 1]
    PYTHONPATH=FOLDER python3 tests/bench/history_points.py build/test/bin/perfgate --labels ANNOTATIONS.json --labelled FOLDER

Series of a year are resampled from recorded processes (tests/data/pools/h100-aa.csv), with the noise that the table names, once
unchanged and once with a step of --step. Each tool has one parameter for all kinds of noise: its default, and the first of a
list with at most --level false points in 10,000 nights, counted over all of them. A step is found if a point lies within three
nights of it; the delay is how many nights after the step it takes.

Labelled series are files of FOLDER: NAME.json of the Turing change point dataset, or a CSV file whose name begins with NAME and
which has a column `value`, as Mozilla's REALISE has. ANNOTATIONS.json has the places that each annotator named:
{NAME: {ANNOTATOR: [PLACE...]}}. A point within five values of a place is right. Checkouts of apache/otava and
mongodb/signal-processing-algorithms (--otava, --mongodb) add the series of their tests, which have no labels."""

import argparse
import csv
import json
import pathlib
import re
import subprocess
import tempfile
import warnings

import numpy as np

POOL = pathlib.Path(__file__).resolve().parents[1] / "data/pools/h100-aa.csv"
NIGHTS, NEAR, NEAR_LABEL = 365, 3, 5
KINDS = ("steady", "weekdays", "weekends", "wave of 60 nights", "wave of a year", "drift", "walk", "bad nights", "heavy tails",
         "two levels", "correlated")
LATER = (3, 4, 6, 10, 20, 60)


def pool():
    kernels = {}
    for _, kernel, *values in csv.reader(POOL.open()):
        kernels.setdefault(kernel, []).append(np.sort(np.array(values, float))[len(values) // 10:-(len(values) // 10)].mean())
    return {kernel: np.array(values) for kernel, values in sorted(kernels.items())}


def series_of(kind, processes, night_spread, step, chance):
    """The mean of five processes for each night, and the night of the step."""
    t = np.arange(NIGHTS)
    spread = np.hypot(night_spread, processes.std() / processes.mean() / 5 ** 0.5)
    phase, nights, level = chance.uniform(0, 2 * np.pi), night_spread * chance.standard_normal(NIGHTS), np.zeros(NIGHTS)
    if kind == "weekdays":
        level = spread * np.sin(2 * np.pi * t / 7 + phase)
    elif kind == "weekends":
        level = -1.5 * spread * ((t + chance.integers(7)) % 7 >= 5)
    elif kind == "wave of 60 nights":
        level = spread * np.sin(2 * np.pi * t / 60 + phase)
    elif kind == "wave of a year":
        level = 2 * spread * np.sin(2 * np.pi * t / 365 + phase)
    elif kind == "drift":
        level = spread * t / 60
    elif kind == "walk":
        level = np.cumsum(chance.standard_normal(NIGHTS)) * spread * 0.1
    elif kind == "bad nights":
        level = (chance.random(NIGHTS) < 0.03) * chance.exponential(0.03, NIGHTS)
    elif kind == "heavy tails":
        nights = night_spread * chance.standard_t(2.5, NIGHTS)
    elif kind == "two levels":
        level = 0.01 * (chance.random(NIGHTS) < 0.25)
    elif kind == "correlated":
        for night in range(1, NIGHTS):
            nights[night] = 0.6 * nights[night - 1] + 0.8 * nights[night]
    at = int(chance.integers(int(NIGHTS * 0.4), int(NIGHTS * 0.8))) if step else None
    if step:
        level = level + np.where(t >= at, np.log1p(step), 0)
    values = [processes[chance.integers(0, len(processes), 5)].mean() for _ in t]
    return [float(f"{value:.6g}") for value in values * np.exp(level + nights)], at


def otava(values, level):
    from otava.analysis import compute_change_points
    return [point.index for point in compute_change_points(values, window_len=50, max_pvalue=level)[0]]


def pelt(values, penalty):
    import ruptures
    logs = np.log(values) if min(values) > 0 else np.array(values)
    spread = np.median(np.abs(np.diff(logs))) / 0.6745 / 2 ** 0.5
    # The linear kernel's cost is that of "l2", computed in C.
    found = ruptures.KernelCPD(kernel="linear", min_size=3).fit(logs / spread).predict(pen=penalty * np.log(len(logs)))
    return found[:-1]


def fixed(values, threshold):
    """The first of three nights beyond the median of 30 by the threshold."""
    points, beyond = [], 0
    for night in range(10, len(values)):
        until = night - beyond
        base = np.median(values[max(0, until - 30):until])
        beyond = beyond + 1 if abs(values[night] / base - 1) > threshold else 0
        if beyond == 3:
            points.append(night - 2)
    return points


def perfgate_points(perfgate, series):
    """Of all series at once, by what `history site` writes."""
    with tempfile.TemporaryDirectory() as folder:
        entries = []
        for night in range(max(map(len, series))):
            benches = [{"name": f"s{i}", "value": values[night], "unit": "value"} for i, values in enumerate(series)
                       if night < len(values)]
            entries.append({"commit": {"id": f"{night:040x}"}, "date": 1767225600000 + night * 86400000,
                            "tool": "customSmallerIsBetter", "benches": benches})
        path = pathlib.Path(folder)
        (path / "data.js").write_text("window.BENCHMARK_DATA = " + json.dumps({"lastUpdate": 0, "entries": {"suite": entries}}))
        for words in (("add", "h.db", "data.js"), ("site", "h.db", "site")):
            subprocess.run([perfgate, "history", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        index = json.loads(re.search(r'id="data">(.*?)</script>', (path / "site/index.html").read_text(), re.DOTALL)[1])
    points = [[] for _ in series]
    for finding in index["findings"]:
        for row in finding["points"]:
            points[int(re.search(r"s(\d+)$", index["cases"][row[0]][1])[1])].append(finding["run"])
    return [sorted(each) for each in points]


def hit(points, at, near=NEAR):
    return any(abs(point - at) <= near for point in points)


class Tool:
    def __init__(self, name, find, parameters, form):
        self.name, self.find, self.parameters, self.form = name, find, parameters, form

    def points(self, series, parameter):
        return self.find(series) if parameter is None else [self.find(values, parameter) for values in series]


def false_points(tool, parameter, unchanged):
    found = {kind: tool.points([values for values, _ in made], parameter) for kind, made in unchanged.items()}
    return {kind: sum(map(len, points)) for kind, points in found.items()}


def delays(tool, parameter, stepped, found, near=NEAR):
    """Nights from the step until it was found, of those that are found at the end."""
    short, of = [], []
    for number, ((values, at), points) in enumerate(zip(stepped, found)):
        if hit(points, at, near):
            for later in LATER:
                if at + later < len(values):
                    short.append(values[:at + later])
                    of.append((number, at, later))
    first = {number: None for number, ((_, at), points) in enumerate(zip(stepped, found)) if hit(points, at, near)}
    for (number, at, later), points in zip(of, tool.points(short, parameter) if short else []):
        if hit(points, at, near) and first[number] is None:
            first[number] = later
    return [NIGHTS if later is None else later for later in first.values()]


def delay_text(late):
    return f", half of them after {np.median(late):.0f} nights, nine of ten after {np.quantile(late, 0.9):.0f}" if late else ""


def rate(count, nights):
    return f"{count / nights * 1e4:.1f}"


def compare(tools, kinds, count, step, level, delay):
    kernels = list(pool().values())
    made = {}
    for factor in (0, step):
        chance = np.random.default_rng(48)
        made[factor] = {kind: [series_of(kind, kernels[i % len(kernels)], (0.001, 0.002, 0.004)[i % 3], factor, chance)
                               for i in range(count)] for kind in kinds}
    nights = count * NIGHTS
    rows = {}
    for tool in tools:
        for number, parameter in enumerate(tool.parameters):
            false = false_points(tool, parameter, made[0])
            pooled = sum(false.values()) / (nights * len(kinds)) * 1e4
            last = pooled <= level or number + 1 == len(tool.parameters)
            if number > 0 and not last:
                continue
            name = tool.name if parameter is None else f"{tool.name}, {tool.form.format(parameter)}"
            found, late, all_points = {}, [], 0
            for kind, stepped in made[step].items():
                points = tool.points([values for values, _ in stepped], parameter)
                found[kind] = sum(hit(each, at) for each, (_, at) in zip(points, stepped))
                all_points += sum(map(len, points))
                if delay and last:
                    late += delays(tool, parameter, stepped, points)
            total = sum(found.values())
            print(f"{name}: {pooled:.2f} false points in 10,000 nights; found {total} of {count * len(kinds)}, "
                  f"precision {total / max(all_points, 1):.0%}{delay_text(late)}", flush=True)
            rows[name] = {kind: f"{rate(false[kind], nights)}; {found[kind]}" for kind in kinds}
            if pooled <= level:
                break
    print(f"\nFalse points in 10,000 nights; steps of {step:.0%} found, of {count}:\n")
    print("| noise | " + " | ".join(rows) + " |\n|---|" + "--:|" * len(rows))
    for kind in kinds:
        print(f"| {kind} | " + " | ".join(row[kind] for row in rows.values()) + " |")


def labelled(tools, labels, folder):
    """Precision and recall by each parameter, and how long the places took that most annotators named."""
    series, places = [], []
    for name, annotators in sorted(json.loads(labels.read_text()).items()):
        for file in sorted(folder.rglob(f"{name}.json")) + sorted(folder.rglob(f"{name}*.csv")):
            if file.suffix == ".json":
                values = json.loads(file.read_text())["series"][0]["raw"]
            else:
                values = [float(row["value"]) for row in csv.DictReader(file.open())]
            if None not in values:
                series.append(values)
                places.append([sorted(map(int, each)) for each in annotators.values()])
                break
    print(f"\n{len(series)} labelled series with {sum(map(len, series))} values")
    agreed = [[at for at in sorted({at for each in named for at in each}) if sum(at in each for each in named) * 2 > len(named)]
              for named in places]
    for tool in tools:
        for parameter in tool.parameters:
            found = tool.points(series, parameter)
            right = sum(any(hit([point], at, NEAR_LABEL) for each in named for at in each)
                        for points, named in zip(found, places) for point in points)
            recalls = [np.mean([hit(points, at, NEAR_LABEL) for at in each])
                       for points, named in zip(found, places) for each in named if each]
            every = sum(map(len, found))
            precision, recall = right / every if every else 1, np.mean(recalls)
            steps = [((values, at), points) for values, points, named in zip(series, found, agreed) for at in named]
            late = delays(tool, parameter, [step for step, _ in steps], [points for _, points in steps], NEAR_LABEL)
            name = tool.name if parameter is None else f"{tool.name}, {tool.form.format(parameter)}"
            print(f"{name}: {every} points, precision {precision:.0%}, recall {recall:.0%}, "
                  f"F1 {2 * precision * recall / max(precision + recall, 1e-9):.2f}; of {len(steps)} agreed places "
                  f"{len(late)}{delay_text(late)}", flush=True)


def published(tools, arguments):
    """Series of other projects' tests. Negative values have no logarithm."""
    series = {}
    if arguments.otava:
        text = (arguments.otava / "tests/tigerbeetle_test.py").read_text()
        series["Otava: TigerBeetle"] = json.loads(re.search(r"return (\[\d[^\]]*\])", text)[1])
    if arguments.mongodb:
        for file in sorted((arguments.mongodb / "tests/data").rglob("*.json")):
            values = json.loads(file.read_text())
            values = values["series"] if isinstance(values, dict) else values
            if len(values) >= 100 and isinstance(values[0], (int, float)) and min(values) > 0 and len(values) < 3000:
                series[f"MongoDB: {file.stem}"] = values
    for name, values in series.items():
        print(f"\n{name}, {len(values)} values")
        for tool in tools:
            for parameter in tool.parameters[:1]:
                points, = tool.points([values], parameter)
                print(f"  {tool.name}: {len(points)}: {' '.join(map(str, points))}"[:300])


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("perfgate", type=pathlib.Path)
    parser.add_argument("--otava", type=pathlib.Path)
    parser.add_argument("--mongodb", type=pathlib.Path)
    parser.add_argument("--series", type=int, default=48, help="of each kind of noise")
    parser.add_argument("--step", type=float, default=0.01)
    parser.add_argument("--no-delay", action="store_true")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="of noise")
    parser.add_argument("--level", type=float, default=1, help="false points in 10,000 nights that the second parameter has at most")
    parser.add_argument("--labels", type=pathlib.Path)
    parser.add_argument("--labelled", type=pathlib.Path)
    parsed = parser.parse_args()
    binary = parsed.perfgate.resolve()
    every = [Tool("perfgate", lambda series: perfgate_points(binary, series), [None], ""),
             Tool("Otava", otava, [1e-3, 1e-6, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15], "p {:g}"),
             Tool("PELT", pelt, [3, 10, 20, 40, 80], "penalty {} ln n"),
             Tool("fixed", fixed, [0.01, 0.02, 0.03, 0.05, 0.1], "{:.0%}")]
    if parsed.labelled:
        labelled(every, parsed.labels, parsed.labelled)
    else:
        compare(every, parsed.kinds, parsed.series, parsed.step, parsed.level, not parsed.no_delay)
        published(every, parsed)
