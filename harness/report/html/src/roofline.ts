// SPDX-License-Identifier: Apache-2.0
// Cases relative to the machine's ceilings: arithmetic intensity and achieved rate.
import * as Plot from "@observablehq/plot";
import { figure, ink } from "./chart";
import type { Case, Details, Report } from "./document";
import { quantityText } from "./quantity";
import { toneOf } from "./verdicts";

interface Place {
  intensity: number; // flop per byte
  rate: number; // flop/s
}

export interface Point {
  of: Case;
  after: Place;
  before: Place | null;
  bytesFrom: string; // source of the bytes, in words
}

const timeMetrics = ["gpu_time", "gpu_span", "host_time"];

function place(flops: number, bytes: number, timeNs: number | null | undefined): Place | null {
  if (timeNs == null || !(flops > 0) || !(bytes > 0) || !(timeNs > 0)) return null;
  return { intensity: flops / bytes, rate: flops / (timeNs * 1e-9) };
}

/** Null if the case has no arithmetic or was not measured. */
export function pointOf(of: Case, details: Details): Point | null {
  const find = (name: string) => details.values.find((value) => value.metric.name === name);
  const time = timeMetrics.map(find).find((value) => value?.after != null && value.metric.unit === "ns");
  const counted = find("flops");
  const dram = find("dram_bytes");
  const stated = of.data.work;
  const flops = (side: "before" | "after") => (stated && stated.flops > 0 ? stated.flops : (counted?.[side] ?? 0));
  // Both sides use the same reference; otherwise a change of the reference would look like a change
  // of the case.
  const isCounted = (dram?.after ?? 0) > 0 && (time?.before == null || (dram?.before ?? 0) > 0);
  const bytes = (side: "before" | "after") => (isCounted ? (dram?.[side] ?? 0) : (stated?.bytes ?? 0));
  const after = place(flops("after"), bytes("after"), time?.after);
  if (!after) return null;
  return {
    of,
    after,
    before: place(flops("before"), bytes("before"), time?.before),
    bytesFrom: isCounted ? "bytes as DRAM moved them" : "bytes as the workload states them",
  };
}

const copyRate = (report: Report) => report.data.ceilings.copy_bytes_per_s ?? 0; // 0: not measured
const matrixRates = (report: Report) => Object.entries(report.data.ceilings.matrix_flops_per_s ?? {});

interface Line {
  name: string;
  below: boolean; // whether the label is below: labels of close lines would overlap
  x1: number;
  y1: number;
  x2: number;
  y2: number;
}

/** Highest first; types with nearly the same rate share a line, with a label of both. */
function ratesApart(rates: readonly [string, number][]): [string, number][] {
  const apart: [string, number][] = [];
  for (const [type, rate] of [...rates].sort(([, left], [, right]) => right - left)) {
    const last = apart.at(-1);
    const label = `${type} ${rateText(rate)}`;
    if (last && last[1] / rate < 1.15) last[0] += `, ${label}`;
    else apart.push([label, rate]);
  }
  return apart;
}

function ceilingLines(report: Report, low: number, high: number, least: number): Line[] {
  const bandwidth = copyRate(report);
  const top = Math.max(0, ...matrixRates(report).map(([, rate]) => rate));
  const lines: Line[] = [];
  let above = Infinity;
  for (const [name, rate] of ratesApart(matrixRates(report))) {
    lines.push({
      name,
      below: above / rate < 2.5,
      x1: bandwidth > 0 ? Math.min(high, Math.max(low, rate / bandwidth)) : low,
      y1: rate,
      x2: high,
      y2: rate,
    });
    above = rate;
  }
  if (bandwidth > 0) {
    const x1 = Math.max(low, least / bandwidth);
    const x2 = top > 0 ? Math.min(high, top / bandwidth) : high;
    if (x2 > x1) {
      const name = `copy ${quantityText(bandwidth, "bytes/s")}`;
      lines.push({ name, below: false, x1, y1: x1 * bandwidth, x2, y2: x2 * bandwidth });
    }
  }
  return lines;
}

/** Readable on top of dots and lines. */
const label = { fill: ink.muted, stroke: "var(--surface)", strokeWidth: 4 };

const rateText = (rate: number) => quantityText(rate, "flop/s");
const isBad = ({ of }: Point) => toneOf(of.verdict) === "bad";

function placeWords(at: Place): string {
  return `${at.intensity.toPrecision(3)} flop/byte at ${rateText(at.rate)}`;
}

function bounds(report: Report, places: readonly Place[]): { x: [number, number]; y: [number, number] } {
  const rates = matrixRates(report).map(([, rate]) => rate);
  const ridges = copyRate(report) > 0 ? rates.map((rate) => rate / copyRate(report)) : [];
  const xs = [...places.map((at) => at.intensity), ...ridges];
  const ys = [...places.map((at) => at.rate), ...rates];
  const least = (list: readonly number[]) => list.reduce((a, b) => Math.min(a, b), Infinity);
  const most = (list: readonly number[]) => list.reduce((a, b) => Math.max(a, b), 0);
  return { x: [least(xs) / 2, most(xs) * 3], y: [least(ys) / 2, most(ys) * 2.2] };
}

/** `chosen`: its before and after are highlighted. `open` is called for a case that is clicked. */
export function rooflineChart(
  report: Report,
  points: readonly Point[],
  chosen: Point | null,
  width: number,
  open: (of: Case) => void,
): SVGElement | HTMLElement {
  const places = points.flatMap((point) => (point.before ? [point.after, point.before] : [point.after]));
  const { x, y } = bounds(report, places);
  const lines = ceilingLines(report, x[0], x[1], y[0]);
  const others = points.filter((point) => point !== chosen);
  const moved = others.filter((point) => isBad(point) && point.before !== null);
  const at = { x: ({ after }: Point) => after.intensity, y: ({ after }: Point) => after.rate };
  const path = (list: readonly Point[], options: Plot.ArrowOptions) =>
    Plot.arrow(
      list.filter((point) => point.before !== null),
      {
        x1: ({ before }: Point) => before?.intensity ?? 1,
        y1: ({ before }: Point) => before?.rate ?? 1,
        x2: at.x,
        y2: at.y,
        headLength: 7,
        ...options,
      },
    );
  const marks: Plot.Markish[] = [
    Plot.link(lines, { x1: "x1", y1: "y1", x2: "x2", y2: "y2", stroke: ink.muted, strokeWidth: 1.5 }),
    Plot.dot(
      others.filter((point) => !isBad(point)),
      { ...at, r: 2.5, fill: ink.after, fillOpacity: chosen ? 0.25 : 0.55 },
    ),
    path(moved, { stroke: ink.bad, strokeOpacity: chosen ? 0.25 : 0.6 }),
    Plot.dot(others.filter(isBad), {
      ...at,
      r: 4.5,
      symbol: "triangle",
      fill: ink.bad,
      fillOpacity: chosen ? 0.3 : 0.9,
    }),
    ...[false, true].map((below) =>
      Plot.text(
        lines.filter((line) => line.y1 === line.y2 && line.below === below),
        { x: "x2", y: "y2", text: "name", textAnchor: "end", dy: below ? 8 : -8, ...label },
      ),
    ),
    Plot.text(
      lines.filter((line) => line.y1 !== line.y2).map((line) => ({
        ...line,
        x: Math.sqrt(line.x1 * line.x2),
        y: Math.sqrt(line.y1 * line.y2),
      })),
      { x: "x", y: "y", text: "name", textAnchor: "end", dx: -8, dy: -4, ...label },
    ),
  ];
  if (chosen) {
    const both = [chosen];
    marks.push(
      path(both, { stroke: ink.text, strokeWidth: 1.5 }),
      Plot.dot(
        both.filter((point) => point.before !== null),
        {
          x: ({ before }: Point) => before?.intensity ?? 1,
          y: ({ before }: Point) => before?.rate ?? 1,
          r: 5.5,
          stroke: ink.before,
          strokeWidth: 2,
          fill: "var(--surface)",
        },
      ),
      Plot.dot(both, { ...at, r: 7, symbol: "diamond", fill: ink.after, stroke: "var(--surface)" }),
    );
  } else {
    marks.push(
      Plot.tip(points, Plot.pointer({ ...at, title: ({ of, after }: Point) => `${of.id}\n${placeWords(after)}` })),
    );
  }
  const decades = (low: number, high: number) => {
    const all: number[] = [];
    for (let i = Math.ceil(Math.log10(low)); i <= Math.log10(high); ++i) all.push(10 ** i);
    const step = Math.max(1, Math.ceil(all.length / 9));
    return all.filter((_, i) => i % step === 0);
  };
  const chart = Plot.plot({
    width,
    height: Math.round(Math.min(420, Math.max(260, width * 0.6))),
    marginLeft: 84,
    marginRight: 16,
    marginTop: 22,
    marginBottom: 40,
    x: {
      type: "log",
      domain: x,
      label: "flop per byte",
      grid: true,
      ticks: decades(...x),
      tickFormat: (value: number) => (value >= 1e-3 && value < 1e6 ? String(value) : value.toExponential(0)),
    },
    y: {
      type: "log",
      domain: y,
      label: null,
      grid: true,
      ticks: decades(...y),
      tickFormat: (value: number) => rateText(value).replace(/\.0+ /, " "),
    },
    marks,
  });
  chart.addEventListener("click", () => {
    const under = chart.value as Point | null | undefined;
    if (under) open(under.of);
  });
  return chart as SVGElement;
}

export function caseRoofline(report: Report, points: readonly Point[], chosen: Point, width: number): HTMLElement {
  const chart = rooflineChart(report, points, chosen, width, () => undefined);
  const now = `Now (filled diamond): ${placeWords(chosen.after)}.`;
  const then = chosen.before ? ` Before (open circle): ${placeWords(chosen.before)}.` : "";
  return figure("Roofline", chart, `${now}${then} The ${chosen.bytesFrom.replace("bytes", "bytes are taken")}.`);
}

export function wholeRoofline(
  report: Report,
  points: readonly Point[],
  withoutArithmetic: number,
  width: number,
  open: (of: Case) => void,
): HTMLElement {
  const chart = rooflineChart(report, points, null, width, open);
  const bad = points.filter(isBad).length;
  const rest = withoutArithmetic > 0 ? ` ${withoutArithmetic} have no arithmetic, or were not measured.` : "";
  const bads = bad > 0 ? ` Triangles: the ${bad} that failed, with an arrow from where they were.` : "";
  const lines = copyRate(report) > 0 || matrixRates(report).length > 0 ? " Lines: the best that the device achieved in this run." : "";
  return figure("Roofline", chart, `${points.length} cases by arithmetic per byte and rate.${bads}${lines}${rest}`, false);
}
