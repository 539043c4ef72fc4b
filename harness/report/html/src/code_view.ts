// SPDX-License-Identifier: Apache-2.0
// The machine code of a slower case: source lines with the time that the samples at them stand for,
// before and after, and what the warps waited for there; the difference of the instructions, folded.
import "./code_view.css";
import type { CodeKernel, CodeLine, Stall } from "./data";
import { el, name } from "./dom";
import { quantityText } from "./quantity";

const percent = (share: number) => `${share.toFixed(share < 9.95 ? 1 : 0)} %`;

/** A part of one side of a kernel, as long as its time beside the longer side's. */
function bar(of: CodeKernel, side: "before" | "after", share: number): HTMLElement {
  const length = (side === "before" ? of.length_before : of.length_after) ?? 0;
  const longest = Math.max(of.length_before ?? 0, of.length_after ?? 0);
  const fill = el("i", {});
  fill.style.width = `${Math.min(100, Math.max(0, longest > 0 ? (share * length) / longest : share))}%`;
  const text = of.timed && length > 0 ? `${quantityText((share * length) / 100, "ns")} (${percent(share)})` : percent(share);
  return el("span", { class: `share ${side}` }, fill, el("b", {}, text));
}

function legend(): (HTMLElement | string)[] {
  const sample = (side: "before" | "after") => el("span", { class: `share ${side}` }, el("i", {}));
  return [": ", sample("before"), " base, ", sample("after"), " this run; the full width is the total of the slower one."];
}

function stall({ words, before, after }: Stall, compared: boolean): HTMLElement {
  return el("li", {}, name(words), compared ? ` ${percent(before)} → ${percent(after)}` : ` ${percent(after)}`);
}

function line(of: CodeLine, kernel: CodeKernel): HTMLElement {
  const compared = kernel.compared ?? false;
  const counts = compared
    ? `${of.instructions_before} → ${of.instructions_after} instructions`
    : `${of.instructions_after} instructions`;
  return el(
    "li",
    {},
    el("div", { class: "place" }, name(of.place), of.was ? el("div", { class: "muted" }, "base: ", name(of.was)) : null),
    of.place === "" ? el("div", { class: "muted small" }, of.text ? "Only the base has this line." : "Only the base has this line; its text is not at hand.") : null,
    of.text ? el("code", {}, name(of.text)) : null,
    compared ? bar(kernel, "before", of.before) : null,
    bar(kernel, "after", of.after),
    el("div", { class: "muted small" }, counts),
    of.stalls?.length ? el("details", {}, el("summary", { class: "muted small" }, "What the warps waited for"), el("ul", {}, ...of.stalls.map((one) => stall(one, compared)))) : null,
  );
}

/** Rows lose the blanks before them on their way here: that of both sides has no mark. */
function marked(row: string): HTMLElement {
  const mark = /^[+~-] /.test(row) ? row.charAt(0) : " ";
  return el("span", { "data-mark": mark }, name(mark === " " ? `  ${row.trimStart()}` : row));
}

/** Parts of the rows are made when they come near to what is seen, and removed when they are far: there may be twenty thousand. */
function rows(of: CodeKernel): HTMLElement | null {
  const all = of.rows ?? [];
  if (all.length === 0) return null;
  const chunk = 500;
  const list = el("div", { class: "instructions", tabindex: 0, role: "region", "aria-label": "Instructions" });
  const parts = new Map<Element, readonly string[]>();
  const near = new IntersectionObserver(
    (changes) => {
      for (const { target, isIntersecting } of changes) {
        const texts = isIntersecting ? (parts.get(target) ?? []) : [];
        target.replaceChildren(...texts.flatMap((row) => [marked(row), "\n"]));
      }
    },
    { root: list, rootMargin: "9000px 0px" },
  );
  const fill = () => {
    if (parts.size > 0) return;
    for (let begin = 0; begin < all.length; begin += chunk) {
      const texts = all.slice(begin, begin + chunk);
      const part = el("pre", {});
      part.style.height = `${texts.length}lh`;
      parts.set(part, texts);
      list.append(part);
      near.observe(part);
    }
  };
  const title = of.compared ? "Difference of the instructions" : "Instructions";
  return el("details", { toggle: fill }, el("summary", {}, `${title} (${all.length} rows)`), list);
}

/** Those with the most added time first, as the sentence above them. */
function byAddedTime(of: CodeKernel): CodeLine[] {
  const added = ({ before, after }: CodeLine) => after * (of.length_after ?? 0) - before * (of.length_before ?? 0);
  return [...(of.lines ?? [])].sort((left, right) => added(right) - added(left));
}

export function codeViews(kernels: readonly CodeKernel[]): HTMLElement[] {
  return kernels.map((of) => {
    const compared = of.compared ?? false;
    const lines = byAddedTime(of);
    return el(
      "div",
      { class: "code-view" },
      el("h4", {}, name(of.name)),
      el("p", {}, name(of.sentence)),
      of.time ? el("p", {}, name(of.time)) : null,
      of.classes ? el("p", { class: "muted small" }, name(of.classes)) : null,
      lines.length > 0 ? el("p", { class: "muted small" }, of.timed ? "Time at each line, by its share of the samples" : "Samples at each line", ...(compared ? legend() : [])) : null,
      lines.length > 0 ? el("ol", {}, ...lines.map((one) => line(one, of))) : null,
      rows(of),
    );
  });
}
