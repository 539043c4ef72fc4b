// SPDX-License-Identifier: Apache-2.0
// Draws the timeline on canvases: rows of events, the axis, and the overview of the whole time.
import type { Kind } from "./document";
import { quantityText } from "../quantity";
import { firstFrom, type Layout, type Place, type PlacedRow } from "./layout";
import { ticks, type View } from "./view";

/** Of the style sheet, as the theme has them. */
export interface Colours {
  surface: string;
  text: string;
  muted: string;
  line: string;
  accent: string;
  onEvent: string;
  onRange: string;
  kernels: string[];
  otherKernel: string;
  copy: string;
  memset: string;
  ranges: string[];
  call: string;
  wait: string;
  gap: string;
}

export const kernelColours = 8;
const rangeColours = 3;

export function coloursOf(element: Element): Colours {
  const style = getComputedStyle(element);
  const value = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const list = (name: string, count: number) => Array.from({ length: count }, (_, i) => value(`${name}-${i}`));
  return {
    surface: value("surface"),
    text: value("text"),
    muted: value("muted"),
    line: value("line"),
    accent: value("accent"),
    onEvent: value("on-event"),
    onRange: value("on-range"),
    kernels: list("kernel", kernelColours),
    otherKernel: value("kernel-other"),
    copy: value("copy"),
    memset: value("memset"),
    ranges: list("range", rangeColours),
    call: value("call"),
    wait: value("wait"),
    gap: value("gap"),
  };
}

export interface Scene {
  layout: Layout;
  kinds: readonly Kind[];
  /** By name: which of the colours a kernel has. */
  ranks: ReadonlyMap<string, number>;
  gaps: readonly { begin_ns: number; end_ns: number }[];
  view: View;
  /** Null: nothing is searched for. */
  matches: ReadonlySet<number> | null;
  selected: Place | null;
  hovered: Place | null;
}

/** A canvas with sharp pixels, `width` × `height` in CSS pixels; its content is gone. */
export function prepared(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("the browser has no canvas");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = '11px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';
  context.textBaseline = "middle";
  return context;
}

function colourOf(kind: Kind, depth: number, scene: Scene, colours: Colours): string {
  switch (kind.kind) {
    case "kernel": {
      const rank = scene.ranks.get(kind.text);
      return (rank === undefined ? null : colours.kernels[rank]) ?? colours.otherKernel;
    }
    case "copy":
      return colours.copy;
    case "memset":
      return colours.memset;
    case "range":
      return colours.ranges[Math.min(depth, colours.ranges.length - 1)] ?? colours.call;
    case "wait":
      return colours.wait;
    default:
      return colours.call;
  }
}

/** A kernel's name without what it takes: "void ns::kernel<float>(int)" as "kernel<float>". */
export function shortName(name: string): string {
  const call = name.replace(/\(.*$/s, "");
  const head = call.replace(/<.*$/s, "");
  const from = Math.max(head.lastIndexOf("::") + 2, head.lastIndexOf(" ") + 1, 0);
  return call.slice(from === 1 ? 0 : from) || name;
}

function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  const per = context.measureText("n").width;
  const count = Math.floor((width - per) / per);
  return count < 3 ? "" : `${text.slice(0, count)}…`;
}

const textFrom = 28; // pixels: narrower events have no text
const gapBetween = 0.6;

function drawRow(context: CanvasRenderingContext2D, placed: PlacedRow, top: number, width: number, scene: Scene, colours: Colours): void {
  const { row, depth, height } = placed;
  const { begin, end } = scene.view;
  const perNs = width / (end - begin);
  const bar = height - 3;
  let pixel = -1; // the last that was drawn for events shorter than one: the others there are left out
  let pixelDimmed = true;
  for (let i = firstFrom(row, begin); i < row.begins.length; ++i) {
    const from = row.begins[i] ?? 0;
    const to = row.ends[i] ?? 0;
    if (from > end) break;
    if (to < begin) continue;
    const number = row.kinds[i] ?? 0;
    const kind = scene.kinds[number];
    if (!kind) continue;
    let left = Math.max((from - begin) * perNs, -2);
    let right = Math.min((to - begin) * perNs, width + 2);
    const dimmed = scene.matches !== null && !scene.matches.has(number);
    if (right - left < 1) {
      left = Math.floor(left);
      right = left + 1;
      if (left === pixel && (dimmed || !pixelDimmed)) continue;
      pixel = left;
      pixelDimmed = dimmed;
    }
    const wide = right - left;
    context.globalAlpha = (dimmed ? 0.25 : 1) * (kind.merged ? 0.55 : 1);
    context.fillStyle = colourOf(kind, depth, scene, colours);
    if (wide > 6) {
      context.beginPath();
      context.roundRect(left, top + 1.5, wide - gapBetween, bar, 2);
      context.fill();
    } else {
      context.fillRect(left, top + 1.5, wide > 2 ? wide - gapBetween : wide, bar);
    }
    const isAt = (place: Place | null) => place !== null && place.at === placed && place.index === i;
    if (wide > textFrom && bar > 10 && !kind.merged) {
      const words = kind.kind === "kernel" ? shortName(kind.text) : kind.text;
      const inside = Math.max(left, 0) + 5;
      context.fillStyle = kind.kind === "range" || kind.kind === "call" ? colours.onRange : colours.onEvent;
      const text = fitted(context, words, Math.min(right, width) - inside - 4);
      if (text) context.fillText(text, inside, top + height / 2 + 0.5);
    }
    context.globalAlpha = 1;
    if (isAt(scene.selected) || isAt(scene.hovered)) {
      context.strokeStyle = isAt(scene.selected) ? colours.accent : colours.text;
      context.lineWidth = isAt(scene.selected) ? 2 : 1;
      context.strokeRect(left - 0.5, top + 1, Math.max(wide, 2) + 0.5, bar + 1);
    }
  }
}

/** The rows between `scrollTop` and `scrollTop + height`. */
export function drawRows(canvas: HTMLCanvasElement, width: number, height: number, scrollTop: number, scene: Scene, colours: Colours): void {
  const context = prepared(canvas, width, height);
  const perNs = width / (scene.view.end - scene.view.begin);
  context.fillStyle = colours.gap;
  for (const gap of scene.gaps) {
    const left = (gap.begin_ns - scene.view.begin) * perNs;
    const wide = (gap.end_ns - gap.begin_ns) * perNs;
    if (wide > 1 && left < width && left + wide > 0) context.fillRect(left, 0, wide, height);
  }
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  context.beginPath();
  for (const time of ticks(scene.view, width / 110).times) {
    const x = Math.round((time - scene.view.begin) * perNs) + 0.5;
    context.moveTo(x, 0);
    context.lineTo(x, height);
  }
  for (const { top } of scene.layout.heads) {
    const y = Math.round(top - scrollTop) + 0.5;
    if (top > 0 && y > 0 && y < height) {
      context.moveTo(0, y);
      context.lineTo(width, y);
    }
  }
  context.stroke();
  for (const row of scene.layout.rows) {
    const top = row.top - scrollTop;
    if (top + row.height > 0 && top < height) drawRow(context, row, top, width, scene, colours);
  }
  drawLaunch(context, scrollTop, width, scene, colours);
}

/** From when the selected kernel was launched to when it began. */
function drawLaunch(context: CanvasRenderingContext2D, scrollTop: number, width: number, scene: Scene, colours: Colours): void {
  if (!scene.selected) return;
  const { at, index } = scene.selected;
  const kind = scene.kinds[at.row.kinds[index] ?? 0];
  const delay = at.row.first[index] ?? -1;
  if (kind?.kind !== "kernel" || kind.merged || delay <= 0) return;
  const perNs = width / (scene.view.end - scene.view.begin);
  const right = ((at.row.begins[index] ?? 0) - scene.view.begin) * perNs;
  const left = right - delay * perNs;
  const y = Math.round(at.top - scrollTop + at.height / 2) + 0.5;
  context.strokeStyle = colours.accent;
  context.lineWidth = 1.5;
  context.setLineDash([4, 3]);
  context.beginPath();
  context.moveTo(Math.max(left, -5), y);
  context.lineTo(Math.min(right, width + 5), y);
  context.stroke();
  context.setLineDash([]);
  context.beginPath();
  context.moveTo(left, y - 6);
  context.lineTo(left, y + 6);
  context.stroke();
}

/** A time of the axis: in the unit of the steps, with the digits that tell two of them apart. */
export function tickText(time: number, step: number): string {
  const [size, unit] = ([[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]] as const).find(([size]) => Math.max(step * 4, time) >= size) ?? [1, "ns"];
  const decimals = Math.min(9, Math.max(0, -Math.floor(Math.log10(step / size) + 1e-9)));
  return `${(time / size).toFixed(decimals)} ${unit}`;
}

export function drawAxis(canvas: HTMLCanvasElement, width: number, height: number, view: View, colours: Colours): void {
  const context = prepared(canvas, width, height);
  const perNs = width / (view.end - view.begin);
  context.fillStyle = colours.muted;
  const { times, step } = ticks(view, width / 110);
  for (const time of times) {
    const x = (time - view.begin) * perNs;
    context.fillRect(Math.round(x), height - 5, 1, 5);
    const text = tickText(time, step);
    if (x + context.measureText(text).width + 4 < width) context.fillText(text, x + 4, height / 2);
  }
}

/** How busy the GPU was in all of the time, and which part of it is in view. */
export function drawOverview(canvas: HTMLCanvasElement, width: number, height: number, busy: readonly number[], view: View, length: number, colours: Colours): void {
  const context = prepared(canvas, width, height);
  const piece = width / Math.max(busy.length, 1);
  context.fillStyle = colours.accent;
  context.globalAlpha = 0.55;
  busy.forEach((share, i) => {
    if (share < 0) return; // not known
    const tall = (share / 1000) * (height - 4);
    const [left, right] = [Math.round(i * piece), Math.round((i + 1) * piece)];
    context.fillRect(left, height - tall, right - left, tall);
  });
  const left = (view.begin / length) * width;
  const right = (view.end / length) * width;
  context.fillStyle = colours.surface;
  context.globalAlpha = 0.7;
  context.fillRect(0, 0, left, height);
  context.fillRect(right, 0, width - right, height);
  context.globalAlpha = 1;
  context.strokeStyle = colours.accent;
  context.lineWidth = 1.5;
  context.strokeRect(left + 0.75, 0.75, Math.max(right - left - 1.5, 2), height - 1.5);
}

export function timeText(ns: number): string {
  return quantityText(ns, "ns");
}
