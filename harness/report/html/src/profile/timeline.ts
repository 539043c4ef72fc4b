// SPDX-License-Identifier: Apache-2.0
// The timeline: what is in view, what the pointer and the keys do, what is searched for.
import type { Process } from "./data";
import type { Profile, Track } from "./document";
import { describe, elementOf } from "./describe";
import { el, name } from "../dom";
import { quantityText } from "../quantity";
import { type Colours, coloursOf, drawAxis, drawOverview, drawRows, kernelColours, type Scene } from "./draw";
import { eventAt, isVisible, layoutOf, nextMatch, type Place, rowAt } from "./layout";
import { around, busiestPart, moved, type View, within, zoomed } from "./view";

const overviewHeight = 40;
const axisHeight = 22;
const sampledHeight = 24;
const reachPixels = 3;
const zoomStep = 1.6;

/** The colours that have one meaning; those of kernels are in their table. */
function legend(): HTMLElement {
  const colours = [["copy", "copy"], ["memset", "memset"], ["wait", "waiting for the GPU"], ["gap", "longest gaps"]] as const;
  return el(
    "ul",
    { class: "legend muted" },
    ...colours.map(([colour, words]) => el("li", {}, el("span", { class: "swatch", "aria-hidden": "true", style: `--colour: var(--${colour})` }), words)),
  );
}

export class Timeline {
  readonly element: HTMLElement;
  private readonly overview = el("canvas", { "aria-hidden": "true", class: "overview" });
  private readonly sampled = el("div", { class: "sampled" });
  private readonly axis = el("canvas", { "aria-hidden": "true", class: "axis" });
  private readonly plot = el("canvas", { "aria-hidden": "true", class: "plot" });
  private readonly labels = el("div", { class: "labels" });
  private readonly content = el("div", { class: "content" }, this.labels, this.plot);
  private readonly lanes = el(
    "div",
    { class: "lanes", tabindex: 0, role: "group", "aria-label": "Timeline", "aria-describedby": "timeline-keys" },
    this.content,
  );
  private readonly tooltip = el("div", { class: "tooltip", role: "tooltip", hidden: true });
  private readonly selection = el("div", { class: "selection", "aria-live": "polite" });
  private readonly band = el("div", { class: "band", hidden: true });

  private length = 1;
  private busy: readonly number[] = [];
  private samples: { canvas: HTMLCanvasElement; values: readonly number[] }[] = [];
  private tracks: Track[] = [];
  private scene: Scene;
  private colours: Colours | null = null;
  private due = false;

  constructor(private readonly profile: Profile) {
    this.scene = {
      layout: { rows: [], heads: [], labels: [], height: 0 },
      kinds: profile.named,
      ranks: new Map(),
      gaps: [],
      view: { begin: 0, end: 1 },
      matches: null,
      selected: null,
      hovered: null,
    };
    const button = (label: string, words: string, action: () => void) =>
      el("button", { type: "button", "aria-label": words, title: words, click: action }, label);
    this.element = el(
      "div",
      { class: "timeline" },
      el(
        "div",
        { class: "tools" },
        el("p", { id: "timeline-keys", class: "muted keys" }, "drag or ← → move · Ctrl+wheel or + − zoom · Shift+drag zooms to a part · 0 all · click holds an event"),
        legend(),
        el(
          "div",
          { class: "zoom", role: "group", "aria-label": "Zoom" },
          button("−", "Zoom out", () => this.zoom(1 / zoomStep)),
          button("+", "Zoom in", () => this.zoom(zoomStep)),
          button("All", "All of the recording", () => this.show({ begin: 0, end: this.length })),
        ),
      ),
      el("div", { class: "frame" }, this.overview, this.sampled, this.axis, this.lanes, this.band),
      this.selection,
      this.tooltip,
    );
    this.listen();
  }

  /** Another process. */
  open(process: Process): void {
    this.length = Math.max(process.length_ns, 1);
    this.busy = process.busy;
    this.samples = (process.samples ?? []).map(({ values }) => ({ canvas: el("canvas", { "aria-hidden": "true" }), values }));
    this.sampled.replaceChildren(
      ...(process.samples ?? []).map(({ label, most, unit }, i) =>
        el("p", {}, el("span", { class: "muted" }, `${label}, to ${quantityText(most, unit)}`), this.samples[i]?.canvas ?? ""),
      ),
    );
    this.tracks = this.profile.tracks(process);
    const ranks = new Map(process.profile.kernels.slice(0, kernelColours).map((kernel, rank) => [kernel.name, rank]));
    const layout = layoutOf(this.tracks);
    this.scene = { ...this.scene, layout, ranks, gaps: process.profile.gaps, selected: null, hovered: null };
    this.content.style.height = `${layout.height}px`;
    this.labels.replaceChildren(
      ...layout.heads.map(({ text, top }) => el("p", { class: "head", style: `top: ${top}px`, title: text }, name(text))),
      ...layout.labels.map(({ track, top }) =>
        el("p", { class: "track", style: `top: ${top}px`, title: `${track.recorded} recorded` }, name(track.label)),
      ),
    );
    this.select(null);
    this.show(busiestPart(this.busy, this.length));
  }

  /** The ranks of the kernels' colours, for the tables. */
  rankOf(kernel: string): number | undefined {
    return this.scene.ranks.get(kernel);
  }

  /** Marks the events whose kind is in the set, or all for null. */
  mark(matches: ReadonlySet<number> | null): void {
    this.scene.matches = matches;
    this.redraw();
  }

  /** How many events are marked. */
  marked(): number {
    const { matches, layout } = this.scene;
    if (!matches) return 0;
    let count = 0;
    for (const { row } of layout.rows) for (const kind of row.kinds) if (matches.has(kind)) ++count;
    return count;
  }

  /** Selects the next marked event and brings it into view. */
  step(backwards: boolean): void {
    const { matches, layout, selected, view } = this.scene;
    if (!matches) return;
    const from = selected ? (selected.at.row.begins[selected.index] ?? 0) : backwards ? view.end : view.begin - 1;
    const place = nextMatch(layout, (kind) => matches.has(kind), from, backwards);
    if (place) this.reveal(place);
  }

  /** Brings an interval into view. */
  zoomTo(begin: number, end: number): void {
    this.show(around(begin, end, this.length));
    this.element.scrollIntoView({ block: "nearest" });
  }

  show(view: View): void {
    this.scene.view = within(view, this.length);
    this.lanes.dataset["view"] = `${Math.round(this.scene.view.begin)}-${Math.round(this.scene.view.end)}`;
    this.redraw();
  }

  /** The theme has changed. */
  recolour(): void {
    this.colours = null;
    this.redraw();
  }

  redraw(): void {
    if (this.due) return;
    this.due = true;
    window.requestAnimationFrame(() => {
      this.due = false;
      this.draw();
    });
  }

  private width(): number {
    return Math.max(this.plotWidth(), 50);
  }

  private plotWidth(): number {
    return this.lanes.clientWidth - this.labels.offsetWidth;
  }

  private draw(): void {
    this.colours ??= coloursOf(this.element);
    const width = this.width();
    const { view } = this.scene;
    const left = `${this.labels.offsetWidth}px`;
    for (const canvas of [this.overview, this.axis]) canvas.style.marginLeft = left;
    for (const { canvas, values } of this.samples) {
      canvas.style.marginLeft = left;
      drawOverview(canvas, width, sampledHeight, values, view, this.length, this.colours);
    }
    drawOverview(this.overview, width, overviewHeight, this.busy, view, this.length, this.colours);
    drawAxis(this.axis, width, axisHeight, view, this.colours);
    drawRows(this.plot, width, this.lanes.clientHeight, this.lanes.scrollTop, this.scene, this.colours);
  }

  private zoom(factor: number, at = (this.scene.view.begin + this.scene.view.end) / 2): void {
    this.show(zoomed(this.scene.view, factor, at, this.length));
  }

  private reveal(place: Place): void {
    const begin = place.at.row.begins[place.index] ?? 0;
    const end = place.at.row.ends[place.index] ?? 0;
    const { view } = this.scene;
    const isTiny = (end - begin) / (view.end - view.begin) < 0.01;
    if (!isVisible(place, view) || isTiny) {
      const span = isTiny ? (end - begin) * 20 : view.end - view.begin;
      const middle = (begin + end) / 2;
      this.show({ begin: middle - span / 2, end: middle + span / 2 });
    }
    const { top, height } = place.at;
    if (top < this.lanes.scrollTop || top + height > this.lanes.scrollTop + this.lanes.clientHeight) {
      this.lanes.scrollTop = top - this.lanes.clientHeight / 2;
    }
    this.select(place);
  }

  private select(place: Place | null): void {
    this.scene.selected = place;
    this.selection.hidden = place === null;
    if (place) {
      const { row } = place.at;
      const zoom = () => this.show(around(row.begins[place.index] ?? 0, row.ends[place.index] ?? 0, this.length));
      this.selection.replaceChildren(
        ...elementOf(describe(this.profile, place)),
        el(
          "div",
          { class: "actions" },
          el("button", { type: "button", click: zoom }, "Zoom to it"),
          el("button", { type: "button", click: () => this.select(null) }, "Close"),
        ),
      );
    }
    this.redraw();
  }

  private timeAt(clientX: number): number {
    const box = this.plot.getBoundingClientRect();
    const { begin, end } = this.scene.view;
    return begin + ((clientX - box.left) / this.width()) * (end - begin);
  }

  private placeAt(event: MouseEvent): Place | null {
    const box = this.plot.getBoundingClientRect();
    if (event.clientX < box.left) return null;
    const row = rowAt(this.scene.layout, event.clientY - box.top + this.lanes.scrollTop);
    if (!row) return null;
    const { begin, end } = this.scene.view;
    return eventAt(row, this.timeAt(event.clientX), (reachPixels / this.width()) * (end - begin));
  }

  private hover(event: PointerEvent | null): void {
    const place = event ? this.placeAt(event) : null;
    const before = this.scene.hovered;
    this.scene.hovered = place;
    if (before?.at !== place?.at || before?.index !== place?.index) this.redraw();
    this.tooltip.hidden = place === null;
    if (!event || !place) return;
    this.tooltip.replaceChildren(...elementOf(describe(this.profile, place)));
    const { offsetWidth, offsetHeight } = this.tooltip;
    const x = Math.min(event.clientX + 14, window.innerWidth - offsetWidth - 8);
    const below = event.clientY + 18;
    const y = below + offsetHeight > window.innerHeight ? event.clientY - offsetHeight - 10 : below;
    this.tooltip.style.left = `${Math.max(x, 8)}px`;
    this.tooltip.style.top = `${Math.max(y, 8)}px`;
  }

  private listen(): void {
    this.listenToDrags();
    this.listenToOverview();
    this.lanes.addEventListener("scroll", () => this.redraw(), { passive: true });
    this.lanes.addEventListener(
      "wheel",
      (event) => {
        const { begin, end } = this.scene.view;
        if (event.ctrlKey || event.metaKey) {
          this.zoom(1.0015 ** -event.deltaY, this.timeAt(event.clientX));
        } else {
          const by = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
          if (by === 0) return;
          this.show(moved(this.scene.view, (by / this.width()) * (end - begin), this.length));
        }
        event.preventDefault();
      },
      { passive: false },
    );
    this.lanes.addEventListener("dblclick", (event) => {
      const place = this.placeAt(event);
      if (place) this.show(around(place.at.row.begins[place.index] ?? 0, place.at.row.ends[place.index] ?? 0, this.length));
    });
    this.lanes.addEventListener("keydown", (event) => this.keyDown(event));
    new ResizeObserver(() => this.redraw()).observe(this.lanes);
  }

  /** Moves what is in view, or with the shift key zooms to the part that is marked. */
  private listenToDrags(): void {
    let from: { x: number; y: number; view: View; part: boolean; far: boolean } | null = null;
    this.lanes.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.clientX < this.plot.getBoundingClientRect().left) return;
      if (event.clientX > this.lanes.getBoundingClientRect().left + this.lanes.clientWidth) return; // its scroll bar
      from = { x: event.clientX, y: event.clientY, view: this.scene.view, part: event.shiftKey, far: false };
    });
    this.lanes.addEventListener("pointermove", (event) => {
      if (!from) return this.hover(event);
      const by = event.clientX - from.x;
      if (!from.far && Math.abs(by) < 4) return;
      if (!from.far) this.lanes.setPointerCapture(event.pointerId);
      from.far = true;
      this.hover(null);
      if (from.part) return this.drawBand(from.x, event.clientX);
      this.show(moved(from.view, (-by / this.width()) * (from.view.end - from.view.begin), this.length));
    });
    const end = (event: PointerEvent) => {
      const drag = from;
      from = null;
      this.band.hidden = true;
      if (!drag) return;
      if (!drag.far) return this.select(this.placeAt(event));
      if (!drag.part) return;
      const [begin, last] = [this.timeAt(drag.x), this.timeAt(event.clientX)].sort((a, b) => a - b) as [number, number];
      this.show({ begin, end: last });
    };
    this.lanes.addEventListener("pointerup", end);
    this.lanes.addEventListener("pointercancel", () => {
      from = null;
      this.band.hidden = true;
    });
    this.lanes.addEventListener("pointerleave", () => this.hover(null));
  }

  private drawBand(from: number, to: number): void {
    const box = this.lanes.getBoundingClientRect();
    this.band.hidden = false;
    this.band.style.left = `${Math.min(from, to) - box.left}px`;
    this.band.style.width = `${Math.abs(to - from)}px`;
  }

  /** The part that is in view comes to where one presses, and follows. */
  private listenToOverview(): void {
    const move = (event: PointerEvent) => {
      const box = this.overview.getBoundingClientRect();
      const middle = ((event.clientX - box.left) / box.width) * this.length;
      const span = this.scene.view.end - this.scene.view.begin;
      this.show({ begin: middle - span / 2, end: middle + span / 2 });
    };
    this.overview.addEventListener("pointerdown", (event) => {
      this.overview.setPointerCapture(event.pointerId);
      move(event);
    });
    this.overview.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) move(event);
    });
  }

  private keyDown(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const move = (by: number) => this.show(moved(this.scene.view, by * (this.scene.view.end - this.scene.view.begin), this.length));
    const actions: Record<string, () => void> = {
      ArrowLeft: () => move(-0.15),
      ArrowRight: () => move(0.15),
      "+": () => this.zoom(zoomStep),
      "=": () => this.zoom(zoomStep),
      "-": () => this.zoom(1 / zoomStep),
      "0": () => this.show({ begin: 0, end: this.length }),
      n: () => this.step(false),
      N: () => this.step(true),
      Escape: () => this.select(null),
    };
    const action = Object.hasOwn(actions, event.key) ? actions[event.key] : undefined;
    if (!action) return;
    action();
    event.preventDefault();
  }
}

