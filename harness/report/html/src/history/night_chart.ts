// SPDX-License-Identifier: Apache-2.0
// One metric of one case over its nights.
import * as Plot from "@observablehq/plot";
import { figure, ink } from "../chart";
import { quantityText, scaleFor } from "../quantity";
import { dayOf, revisionOf, runOf, type History, type Series } from "./document";

export interface Event {
  night: number; // of those shown; their number if it is after the last
  kind: "worse" | "better" | "changed" | "accepted" | "machine";
  words: string;
}

const strokes: Record<Event["kind"], { stroke: string; strokeDasharray?: string; strokeWidth: number }> = {
  worse: { stroke: "var(--bad)", strokeWidth: 1.8 },
  better: { stroke: "var(--good)", strokeWidth: 1.8 },
  changed: { stroke: "var(--muted)", strokeWidth: 1.8 },
  accepted: { stroke: "var(--accent)", strokeWidth: 1.2, strokeDasharray: "2 3" },
  machine: { stroke: "var(--muted)", strokeWidth: 1.2, strokeDasharray: "6 4" },
};

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.round(share * (sorted.length - 1))] ?? 0;
}

/** What happened, in the order of nights. */
export function eventsOf(history: History, series: Series, from: number): Event[] {
  const events: Event[] = [];
  const { nights, metric } = series;
  for (const change of series.changes) {
    if (change.night < from) continue;
    const { cause, evidence } = change.finding;
    events.push({
      night: change.night - from,
      kind: metric.direction === "none" ? "changed" : change.worse ? "worse" : "better",
      words: `${change.from} → ${change.to}${change.moved === "" ? "" : ` (${change.moved})`}. ${cause}: ${evidence}`,
    });
  }
  for (const note of series.notes) {
    const after = nights.findIndex((each) => runOf(history, each).started >= note.at);
    const night = (after < 0 ? nights.length : after) - from;
    if (night < 0) continue;
    const by = [note.by, note.reason].filter((text) => text !== "").join(": ");
    events.push({ night, kind: "accepted", words: `${note.action}${note.of_case === null ? " of the suite" : ""} on ${dayOf(note.at)}${by === "" ? "" : `, ${by}`}` });
  }
  for (let i = Math.max(1, from); i < nights.length; ++i) {
    const [before, now] = [runOf(history, nights[i - 1]!), runOf(history, nights[i]!)];
    const changed = ([["driver", "driver"], ["toolkit", "CUDA toolkit"], ["board", "board"], ["tool", "perfgate"]] as const).flatMap(([key, what]) =>
      before[key] === now[key] ? [] : [`${what} ${history.text(before[key]) || "?"} → ${history.text(now[key]) || "?"}`],
    );
    if (changed.length > 0) events.push({ night: i - from, kind: "machine", words: changed.join(", ") });
  }
  return events.sort((left, right) => left.night - right.night);
}

/** Levels between the changes, as segments of nights. */
function levels(series: Series, from: number): { x1: number; x2: number; level: number }[] {
  const count = series.nights.length - from;
  const all = series.nights.slice(from).flatMap((night) => night.values).sort((left, right) => left - right);
  const seen = series.changes.filter((change) => change.night <= from).at(-1)?.after;
  const inside = series.changes.filter((change) => change.night > from);
  const first = seen ?? inside[0]?.before ?? quantile(all, 0.5);
  const starts = [{ x1: 0, level: first }, ...inside.map((change) => ({ x1: change.night - from, level: change.after }))];
  return starts.map((start, i) => ({ ...start, x2: starts[i + 1]?.x1 ?? count }));
}

export function nightChart(history: History, series: Series, events: readonly Event[], from: number, width: number): HTMLElement {
  const { metric } = series;
  const nights = series.nights.slice(from);
  const runs = nights.map((night) => runOf(history, night));
  const values = nights.flatMap((night, i) => night.values.map((value) => ({ night: i + 0.5, value, failed: night.verdict !== null && history.text(night.verdict) === "regressed" })));
  const segments = levels(series, from);
  const sorted = values.map(({ value }) => value).sort((left, right) => left - right);
  const edges = [quantile(sorted, 0.005), quantile(sorted, 0.995), ...segments.flatMap(({ level }) => [level * (1 - series.tolerance), level * (1 + series.tolerance)])];
  const margin = (Math.max(...edges) - Math.min(...edges) || Math.abs(edges[0] ?? 0) || 1) * 0.06;
  const [low, high] = [Math.min(...edges) - margin, Math.max(...edges) + margin];
  const { size, name } = scaleFor(Math.max(Math.abs(low), Math.abs(high)), metric.unit);
  const drawn = values.filter(({ value }) => value >= low && value <= high);
  const tickCount = Math.max(2, Math.floor(width / 110));
  const ticks = [...new Set(Array.from({ length: tickCount }, (_, i) => Math.floor(((i + 0.5) * nights.length) / tickCount)))];
  const marks: Plot.Markish[] = [];
  if (series.tolerance > 0) {
    marks.push(
      Plot.rect(segments, {
        x1: "x1",
        x2: "x2",
        y1: ({ level }: { level: number }) => (level * (1 - series.tolerance)) / size,
        y2: ({ level }: { level: number }) => (level * (1 + series.tolerance)) / size,
        fill: ink.before,
        fillOpacity: 0.13,
      }),
    );
  }
  for (const [kind, how] of Object.entries(strokes)) {
    const of = events.filter((event) => event.kind === kind);
    if (of.length > 0) marks.push(Plot.ruleX(of, { x: "night", ...how }));
  }
  marks.push(
    Plot.dot(drawn, { x: "night", y: ({ value }: { value: number }) => value / size, r: nights.length > 200 ? 1.2 : 2.2, fill: ({ failed }: { failed: boolean }) => (failed ? ink.bad : ink.after), fillOpacity: 0.65 }),
    Plot.link(segments, {
      x1: "x1",
      x2: "x2",
      y1: ({ level }: { level: number }) => level / size,
      y2: ({ level }: { level: number }) => level / size,
      stroke: ink.before,
      strokeWidth: 1.5,
    }),
  );
  const chart = Plot.plot({
    width,
    height: Math.min(280, Math.max(200, width * 0.35)),
    marginLeft: 56,
    marginRight: 12,
    x: {
      domain: [0, Math.max(1, nights.length)],
      ticks: ticks.map((tick) => tick + 0.5),
      tickFormat: (at: number) => dayOf(runs[Math.floor(at)]?.started ?? ""),
      label: null,
    },
    y: { domain: [low / size, high / size], label: name === "" ? metric.name : `${metric.name} (${name})`, grid: true, nice: false },
    marks,
  });
  const last = nights.at(-1)?.values ?? [];
  const words = [
    `${nights.length} ${nights.length === 1 ? "night" : "nights"} from ${dayOf(runs[0]?.started ?? "")} (${revisionOf(runs[0]!)}) to ${dayOf(runs.at(-1)?.started ?? "")} (${revisionOf(runs.at(-1)!)}), a dot for each process${values.some(({ failed }) => failed) ? ", red where the case was regressed" : ""}.`,
    `The last night: ${quantityText(Math.min(...last), metric.unit)} to ${quantityText(Math.max(...last), metric.unit)}.`,
    series.tolerance > 0 ? `The band is the tolerance of ${Number((series.tolerance * 100).toPrecision(4))} % around each level.` : "No gate has this metric.",
    drawn.length < values.length ? `${values.length - drawn.length} values lie outside the picture.` : "",
  ];
  return figure(metric.name, chart as SVGElement, words.filter((word) => word !== "").join(" "), false);
}
