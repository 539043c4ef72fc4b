// SPDX-License-Identifier: Apache-2.0
// Reads the data, assembles the page, and keeps it synchronised with the address.
import "./base.css";
import "./style.css";
import { CasePanel } from "./case_panel";
import { type Case, parseReport, type Report } from "./document";
import { debounced, el, facts, name } from "./dom";
import { filterBar } from "./filter_bar";
import { outcomeOf, overview } from "./overview";
import { type Point, pointOf, wholeRoofline } from "./roofline";
import { everything, fromHash, isFiltered, select, type Selection, type SortKey, toHash } from "./selection";
import { CaseTable } from "./table";
import { themeSwitch } from "./theme";

/** Of what docs/verdicts.md explains, what the sentences of a case say. */
const words: readonly [string, string][] = [
  ["tolerance", "how much worse a value may be than the baseline"],
  ["95 % interval", "contains the true change in 95 of 100 such runs"],
  ["detects ≥", "the smallest change that the gate finds nine times out of ten"],
  ["slowest tenth", "of a time's samples; its value leaves them out"],
  ["samples", "where a kernel's warps were when the GPU looked, and what they waited for"],
  ["not judged", "measured, but without a tolerance"],
];

/** Below this width the case covers the page. */
const beside = window.matchMedia("(min-width: 1100px)");

function start(report: Report): void {
  let selection = fromHash(window.location.hash);
  let shown: Case[] = [];

  let allPoints: Point[] | null = null;
  const points = () => {
    allPoints ??= report.cases.map((of) => pointOf(of, report.details(of))).filter((point) => point !== null);
    return allPoints;
  };

  const table = new CaseTable({ open: (of) => open(of), sort: (key) => sort(key) });
  const panel = new CasePanel(report, points, { close: () => close(), step: (by) => step(by) });
  const summary = overview(report, (verdict) => toggleVerdict(verdict));
  const bar = filterBar(report, (change) => change_(change));
  const count = el("p", { role: "status", class: "count" });
  const none = el("p", { class: "none" }, "No case matches. ", el("button", { type: "button", click: () => clear() }, "Show all"));
  const cases = el(
    "section",
    { id: "cases", "aria-labelledby": "cases-title" },
    bar.element,
    el("div", { class: "above" }, el("h2", { id: "cases-title", class: "hidden" }, "Cases"), count, el("p", { id: "keys", class: "muted keys" }, "/ filter · ↑ ↓ move · Enter open · Escape close")),
    table.element,
    none,
  );
  const main = el("main", {}, summary.element, cases);
  const device = report.data.facts.find(([label]) => label === "device")?.[1] ?? "";
  const header = el("header", {}, el("span", { class: "brand" }, "perfgate"), name(device, { class: "muted" }), themeSwitch());
  const licences = document.getElementById("licences")?.textContent ?? "";
  const footer = el("footer", {}, el("details", {}, el("summary", {}, "Words"), facts(words)), el("details", {}, el("summary", {}, "Licences of the chart libraries"), el("pre", { tabindex: 0 }, licences)));
  document.body.append(header, el("div", { class: "page" }, main, panel.element), footer);
  document.title = `${outcomeOf(report).words}: ${report.data.counts} – perfgate`;

  function update(next: Selection, history: "push" | "replace" | "none"): void {
    selection = next;
    if (history !== "none") {
      const address = toHash(selection) || window.location.pathname + window.location.search;
      // Sandboxed pages may have no writable history.
      try {
        window.history[history === "push" ? "pushState" : "replaceState"](null, "", address);
      } catch {
        window.location.hash = toHash(selection);
      }
    }
    shown = select(report.cases, selection);
    render();
  }

  function openCase(): Case | undefined {
    return selection.open === "" ? undefined : report.cases.find((of) => of.key === selection.open);
  }

  function where(of: Case): string {
    const index = shown.findIndex((candidate) => candidate.key === of.key);
    return index < 0 ? "not among those shown" : `${index + 1} of ${shown.length}`;
  }

  function render(): void {
    const of = openCase();
    document.body.classList.toggle("has-case", of !== undefined);
    const covered = of !== undefined && !beside.matches;
    main.inert = covered;
    header.inert = covered;
    footer.inert = covered;
    summary.show(selection);
    bar.show(selection);
    table.show(shown, selection);
    none.hidden = shown.length > 0;
    table.element.hidden = shown.length === 0;
    const words = shown.length === report.cases.length ? `${shown.length} cases` : `${shown.length} of ${report.cases.length} cases`;
    if (count.textContent !== words) count.textContent = words;
    if (of) panel.show(of, where(of));
    else panel.hide();
  }

  function change_(change: Partial<Selection>): void {
    update({ ...selection, ...change }, "replace");
  }

  function clear(): void {
    update({ ...everything, sort: selection.sort, descending: selection.descending, open: selection.open }, "replace");
    bar.focus();
  }

  function toggleVerdict(verdict: string): void {
    const on = selection.verdicts.includes(verdict);
    change_({ verdicts: on ? selection.verdicts.filter((other) => other !== verdict) : [...selection.verdicts, verdict] });
  }

  function sort(key: SortKey): void {
    const descending = selection.sort === key ? !selection.descending : key !== "case";
    change_({ sort: key, descending });
  }

  function open(of: Case): void {
    update({ ...selection, open: of.key }, "push");
    panel.focus();
  }

  function close(): void {
    update({ ...selection, open: "" }, "push");
    table.focus();
  }

  function step(by: number): void {
    const index = shown.findIndex((of) => of.key === selection.open);
    const next = shown[Math.min(shown.length - 1, Math.max(0, index + by))];
    if (next) change_({ open: next.key });
    panel.focus();
  }

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.key === "/" && !typing) {
      bar.focus();
      event.preventDefault();
    } else if (/^Arrow(Up|Down)$/.test(event.key) && event.target === document.body && !openCase()) {
      table.focus();
      event.preventDefault();
    } else if (event.key === "Escape") {
      if (typing && isFiltered(selection)) clear();
      else if (openCase()) close();
      else if (typing) table.focus();
      else return;
      event.preventDefault();
    }
  });
  window.addEventListener("popstate", () => update(fromHash(window.location.hash), "none"));
  window.addEventListener("hashchange", () => update(fromHash(window.location.hash), "none"));
  beside.addEventListener("change", render);

  const roofline = summary.element.querySelector("details.whole-roofline");
  const drawRoofline = () => {
    if (!(roofline instanceof HTMLDetailsElement) || !roofline.open) return;
    const width = Math.min(1000, Math.max(280, summary.roofline.clientWidth));
    summary.roofline.replaceChildren(wholeRoofline(report, points(), report.cases.length - points().length, width, open));
  };
  roofline?.addEventListener("toggle", drawRoofline);
  window.addEventListener(
    "resize",
    debounced(150, () => {
      drawRoofline();
      const of = openCase();
      if (of) panel.show(of, where(of));
    }),
  );
  update(selection, "none");
}

const data = document.getElementById("data")?.textContent ?? "";
if (data.trim().startsWith("{")) {
  start(parseReport(data));
} else {
  document.body.append(el("p", {}, "This page has no data: perfgate writes it with --report html:FILE."));
}
