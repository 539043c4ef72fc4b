// SPDX-License-Identifier: Apache-2.0
// The spread of a metric's values: the baseline's processes, this run's processes, and the samples
// of each process of this run.
import * as Plot from "@observablehq/plot";
import { figure, ink } from "./chart";
import type { Batch } from "./data";
import type { Spread, Value } from "./document";
import { quantityText, scaleFor } from "./quantity";

const rowHeight = 26;
/** Rows of processes; a run has five, and more after two rounds. */
const mostProcesses = 16;

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.round(share * (sorted.length - 1))] ?? 0;
}

/**
 * The range that is drawn: all judged values and nearly all samples; a few distant ones would
 * compress the rest to a line.
 */
function extent(judged: readonly number[], samples: readonly number[]): [number, number] {
  const sorted = [...samples].sort((left, right) => left - right);
  const inner = sorted.length > 0 ? [quantile(sorted, 0.02), quantile(sorted, 0.98)] : [];
  const all = [...judged, ...inner];
  const low = Math.min(...all);
  const high = Math.max(...all);
  const margin = (high - low || Math.abs(high) || 1) * 0.04;
  return [low - margin, high + margin];
}

/** With as many decimals as neighbouring ticks need to differ. */
function tickText(step: number): (value: number) => string {
  const decimals = step > 0 ? Math.min(20, Math.max(0, -Math.floor(Math.log10(step)))) : 0;
  return (value) => value.toFixed(decimals);
}

function processName(batch: Batch): string {
  const round = batch.round > 0 ? `, round ${batch.round}` : "";
  return `process ${batch.process}${round}${batch.excluded === null ? "" : " (excluded)"}`;
}

function words(spread: Spread, method: string, value: Value | undefined, outside: number, leftOut: number): string {
  const unit = spread.metric.unit;
  const told: string[] = [];
  const side = (what: string, values: readonly number[]) => {
    if (values.length === 0) return;
    const range =
      values.length === 1
        ? quantityText(values[0] ?? 0, unit)
        : `${values.length} processes from ${quantityText(Math.min(...values), unit)} to ` +
          quantityText(Math.max(...values), unit);
    told.push(`${what}: ${range}.`);
  };
  side("Baseline", spread.baseline);
  side("This run", spread.measured);
  if (value?.before != null) told.push(`The line is the baseline's value, ${quantityText(value.before, unit)}.`);
  if (spread.allowed) {
    const [least, most] = spread.allowed;
    told.push(`The band is what the tolerance allows, ${quantityText(least, unit)} to ${quantityText(most, unit)}.`);
  }
  const taken = spread.batches.reduce((sum, batch) => sum + batch.count, 0);
  const shown = spread.batches.reduce((sum, batch) => sum + batch.samples.length, 0);
  if (taken > 0) {
    const some = shown < taken ? `, of which ${shown} are drawn, evenly by rank` : "";
    told.push(`${taken} samples in ${spread.batches.length} process${spread.batches.length === 1 ? "" : "es"}${some}.`);
  }
  if (outside > 0) told.push(`${outside} of those drawn lie outside the picture.`);
  if (leftOut > 0) told.push(`${leftOut} more processes are not drawn.`);
  if (method !== "") told.push(`Method: ${method}.`);
  return told.join(" ");
}

export function spreadChart(spread: Spread, method: string, value: Value | undefined, width: number): HTMLElement | null {
  const drawn = spread.batches.filter((batch) => batch.samples.length > 0).slice(0, mostProcesses);
  const samples = drawn.flatMap((batch) => batch.samples.map((sample) => ({ row: processName(batch), sample })));
  const judged = [...spread.baseline, ...spread.measured, ...(value?.before != null ? [value.before] : [])];
  const drawnValues = [...judged, ...(spread.allowed ?? [])];
  if (judged.length + samples.length < 2) return null;

  const all = samples.map(({ sample }) => sample);
  const domain = extent(drawnValues, all);
  const [low, high] = domain;
  const inside = samples.filter(({ sample }) => sample >= low && sample <= high);
  const { size, name } = scaleFor(Math.max(Math.abs(low), Math.abs(high)), spread.metric.unit);
  const scaled = (values: readonly number[]) => values.map((number) => number / size);

  const tickCount = Math.max(3, Math.round(width / 110));
  const tickFormat = tickText((high - low) / size / tickCount);
  const rows = [
    ...(spread.baseline.length > 0 ? ["baseline"] : []),
    ...(spread.measured.length > 0 ? ["this run"] : []),
    ...drawn.map(processName),
  ];
  const marks: Plot.Markish[] = [];
  if (spread.allowed) {
    const [least, most] = spread.allowed;
    const band = { x1: Math.max(low, least) / size, x2: Math.min(high, most) / size };
    if (band.x1 < band.x2) marks.push(Plot.rectX([band], { x1: "x1", x2: "x2", fill: ink.before, fillOpacity: 0.12 }));
  }
  if (value?.before != null) {
    marks.push(Plot.ruleX([value.before / size], { stroke: ink.before, strokeWidth: 1.5, strokeDasharray: "4 3" }));
  }
  marks.push(
    Plot.tickX(inside, {
      x: ({ sample }: { sample: number }) => sample / size,
      y: "row",
      stroke: ink.after,
      strokeWidth: 1.5,
      strokeOpacity: 0.6,
      insetTop: 5,
      insetBottom: 5,
    }),
    Plot.dot(scaled(spread.baseline), {
      x: (number: number) => number,
      y: () => "baseline",
      stroke: ink.before,
      fill: "none",
      strokeWidth: 1.6,
      r: 4.5,
    }),
    Plot.dot(scaled(spread.measured), {
      x: (number: number) => number,
      y: () => "this run",
      fill: ink.after,
      symbol: "diamond",
      r: 5,
    }),
  );
  // The two values that are compared, beside their points; on the side where there is room.
  const labels = [
    { row: "baseline", at: value?.before ?? null, text: value?.before_text ?? "", beside: spread.baseline },
    { row: "this run", at: value?.after ?? null, text: value?.after_text ?? "", beside: spread.measured },
  ];
  for (const { row, at, text, beside } of labels) {
    if (at === null || beside.length === 0) continue;
    const toTheLeft = at > (low + high) / 2;
    marks.push(
      Plot.text([text], {
        x: (toTheLeft ? Math.min(...beside) : Math.max(...beside)) / size,
        y: () => row,
        text: (words: string) => words,
        textAnchor: toTheLeft ? "end" : "start",
        dx: toTheLeft ? -9 : 9,
        fill: ink.text,
        stroke: "var(--surface)",
        strokeWidth: 4,
      }),
    );
  }
  const longest = Math.max(...rows.map((row) => row.length));
  const chart = Plot.plot({
    width,
    height: rows.length * rowHeight + 60,
    marginLeft: Math.min(width / 3, longest * 6.6 + 14),
    marginRight: 18,
    marginBottom: 44,
    x: { domain: scaled(domain), labelOffset: 40, label: `${spread.metric.name} (${name})`, grid: true, ticks: tickCount, tickFormat },
    y: { domain: rows, label: null, tickSize: 0 },
    marks,
  });
  return figure(
    `Distribution of ${spread.metric.name}`,
    chart as SVGElement,
    words(spread, method, value, samples.length - inside.length, spread.batches.length - drawn.length),
  );
}
