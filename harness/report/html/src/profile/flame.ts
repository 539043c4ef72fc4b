// SPDX-License-Identifier: Apache-2.0
// What the host did while the GPU was idle: a tree of functions, each as wide as its time, with the functions that it called below it.
import { el, name } from "../dom";
import type { Flame } from "./data";
import { timeText } from "./draw";

const least = 0.004; // of the width: narrower ones are not drawn

export class FlameGraph {
  readonly element = el("section", { "aria-labelledby": "flame-title", class: "flame" });
  private children: number[][] = [];
  private frames: readonly Flame[] = [];

  open(frames: readonly Flame[]): void {
    this.frames = frames;
    this.element.hidden = frames.length === 0;
    // Places count from 1; those of 0 are the outermost.
    this.children = [[], ...frames.map(() => [] as number[])];
    frames.forEach((frame, i) => this.children[frame.parent ?? 0]?.push(i + 1));
    for (const each of this.children) each.sort((a, b) => this.time(b) - this.time(a));
    this.show(0);
  }

  private time(place: number): number {
    return this.frames[place - 1]?.time_ns ?? 0;
  }

  private show(root: number): void {
    const shown = root === 0 ? (this.children[0] ?? []) : [root];
    const whole = shown.reduce((sum, each) => sum + this.time(each), 0);
    const all = el("button", { type: "button", click: () => this.show(0) }, "All functions");
    all.hidden = root === 0;
    this.element.replaceChildren(el("h2", { id: "flame-title" }, "What the host did while the GPU was idle"), all, this.list(shown, whole, whole));
  }

  private list(places: readonly number[], own: number, whole: number): HTMLElement {
    const items = places.filter((place) => this.time(place) >= least * whole).map((place) => this.item(place, whole));
    const rest = el("li", { "aria-hidden": "true" });
    rest.style.flexGrow = String(own - places.reduce((sum, place) => sum + (this.time(place) >= least * whole ? this.time(place) : 0), 0));
    return el("ul", {}, ...items, rest);
  }

  private item(place: number, whole: number): HTMLElement {
    const frame = this.frames[place - 1];
    const told = `${((this.time(place) / whole) * 100).toFixed(1)} %, ${timeText(this.time(place))}`;
    const button = el(
      "button",
      { type: "button", title: `${frame?.name ?? ""}\n${frame?.file ?? ""}\n${told}`, class: frame?.file ? null : "state", click: () => this.show(place) },
      name(frame?.name ?? ""),
      el("span", { class: "muted" }, told),
    );
    const below = this.children[place] ?? [];
    const item = el("li", {}, button, below.length > 0 && this.list(below, this.time(place), whole));
    item.style.flexGrow = String(this.time(place));
    return item;
  }
}
