// SPDX-License-Identifier: Apache-2.0
// One case: its verdict, the reasons, and the values behind them.
import { codeViews } from "./code_view";
import type { Kernel } from "./data";
import type { Case, Report, Spread, Value } from "./document";
import { el, facts, name } from "./dom";
import { quantityText } from "./quantity";
import { caseRoofline, type Point } from "./roofline";
import { spreadChart } from "./spread_chart";
import { badge, toneOf, wordOf } from "./verdicts";

function section(title: string, ...children: (Node | null)[]): HTMLElement {
  return el("section", {}, el("h3", {}, title), ...children);
}

function lines(texts: readonly string[]): HTMLElement {
  return el("ul", { class: "lines" }, ...texts.map((text) => el("li", {}, name(text))));
}

function rank(value: Value): number {
  if (value.verdict === null) return value.before === null ? -2 : -1;
  return value.verdict.severity;
}

function metricRow(value: Value, tolerance: string): HTMLElement {
  const metric = value.metric;
  // On narrow screens the style sheet splits a row into two lines; the roles keep it a table.
  return el(
    "tr",
    { role: "row", "data-tone": value.verdict ? toneOf(value.verdict) : null },
    el(
      "th",
      { role: "rowheader", scope: "row", title: metric.description ?? "" },
      // It may be broken after its underscores.
      el("bdi", {}, ...metric.name.split(/(?<=_)/).flatMap((part) => [part, el("wbr")])),
      tolerance !== "" ? el("div", { class: "muted small" }, "tolerance ", name(tolerance)) : null,
      value.interval !== null ? el("div", { class: "muted small" }, value.interval) : null,
    ),
    el("td", { role: "cell", class: "number" }, value.before_text),
    el("td", { role: "cell", class: "number" }, value.after_text),
    el("td", { role: "cell", class: "number" }, value.moved),
    el("td", { role: "cell" }, value.verdict ? badge(value.verdict) : el("span", { class: "muted" }, "not judged")),
  );
}

/** What was judged comes first, then what `why` names, then what changed most. */
function metricTable(values: readonly Value[], why: readonly string[], report: Report): HTMLElement {
  const words = new Set(why.flatMap((line) => line.split(/\W+/)));
  const named = (value: Value) => Number(words.has(value.metric.name));
  const sorted = [...values].sort(
    (left, right) =>
      rank(right) - rank(left) ||
      named(right) - named(left) ||
      Math.abs(right.change ?? 0) - Math.abs(left.change ?? 0),
  );
  const heads = ["Metric", "Baseline", "This run", "Change", "Verdict"];
  return el(
    "div",
    { class: "wide", tabindex: 0, role: "region", "aria-label": "Metrics, before and after" },
    el(
      "table",
      { class: "metrics", role: "table" },
      el(
        "thead",
        { role: "rowgroup" },
        el("tr", { role: "row" }, ...heads.map((head) => el("th", { role: "columnheader", scope: "col" }, head))),
      ),
      el("tbody", { role: "rowgroup" }, ...sorted.map((value) => metricRow(value, report.text(value.tolerance)))),
    ),
  );
}

function kernelTable(kernels: readonly Kernel[]): HTMLElement {
  const ofProgram = kernels.some((kernel) => kernel.launches !== null);
  const heads = ["Kernel", "Grid", "Block", "Registers", "Shared memory", "Local memory"];
  heads.push(...(ofProgram ? ["Launches", "Time"] : ["Occupancy"]));
  const figures = (kernel: Kernel): [number | null, string][] =>
    ofProgram ? [[kernel.launches, "count"], [kernel.time_ns, "ns"]] : [[kernel.theoretical_occupancy, "%"]];
  return el(
    "div",
    { class: "wide", tabindex: 0, role: "region", "aria-label": "Kernels" },
    el(
      "table",
      { class: "kernels" },
      el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { scope: "col" }, head)))),
      el(
        "tbody",
        {},
        ...kernels.map((kernel) =>
          el(
            "tr",
            {},
            el("th", { scope: "row", class: "kernel" }, name(kernel.name)),
            el("td", {}, kernel.grid.join(" × ")),
            el("td", {}, kernel.block.join(" × ")),
            el("td", { class: "number" }, String(kernel.registers)),
            el("td", { class: "number" }, quantityText(kernel.static_smem + kernel.dynamic_smem, "bytes")),
            el("td", { class: "number" }, quantityText(kernel.local_bytes, "bytes")),
            ...figures(kernel).map(([value, unit]) =>
              el("td", { class: "number" }, value === null ? "" : quantityText(value, unit)),
            ),
          ),
        ),
      ),
    ),
  );
}

function circumstances({ data, suite, tags }: Case, report: Report): HTMLElement {
  const { work } = data;
  const workText = work
    ? [
        work.flops > 0 ? `${quantityText(work.flops, "flop")}${work.arithmetic ? ` of ${work.arithmetic}` : ""}` : "",
        work.bytes > 0 ? quantityText(work.bytes, "bytes") : "",
      ]
        .filter((text) => text !== "")
        .join(" and ")
    : "";
  const rows: [string, string][] = [
    ["suite", report.data.suites.length > 1 ? suite.name : ""],
    ["place", data.place ?? ""],
    ["compared with", data.compared_with ?? ""],
    ["tags", tags.join(", ")],
    ["work", workText],
    ["ceiling", data.roof ?? ""],
    ["code", (data.code ?? "").replaceAll("_", " ")],
    ["verified", data.verified ?? ""],
    ["does not apply", (data.not_applicable ?? []).map(report.text).join(", ")],
    ["took", data.wall_s > 0 ? `${data.wall_s.toFixed(2)} s` : ""],
  ];
  return facts(rows.filter(([, value]) => value !== ""));
}

export interface PanelEvents {
  close(): void;
  step(by: number): void;
}

export class CasePanel {
  readonly element = el("section", { id: "case", "aria-labelledby": "case-name", hidden: true });
  private readonly heading = el("h2", { id: "case-name", tabindex: -1 });
  private shown = "";

  constructor(
    private readonly report: Report,
    private readonly points: () => readonly Point[],
    private readonly events: PanelEvents,
  ) {}

  hide(): void {
    this.element.hidden = true;
    this.shown = "";
  }

  focus(): void {
    this.heading.focus();
  }

  /** `where`: "3 of 12", its position among the cases shown. */
  show(of: Case, where: string): void {
    const width = this.contentWidth();
    const state = `${of.key} ${where} ${width}`;
    if (state === this.shown) return;
    this.shown = state;
    const top = this.element.scrollTop;
    const isNew = this.element.dataset["key"] !== of.key;
    this.element.dataset["key"] = of.key;
    this.heading.replaceChildren(name(of.id));
    this.element.replaceChildren(this.bar(where), ...this.content(of, width));
    this.element.scrollTop = isNew ? 0 : top;
  }

  private contentWidth(): number {
    this.element.hidden = false;
    const style = getComputedStyle(this.element);
    const inner = this.element.clientWidth - Number.parseFloat(style.paddingLeft) - Number.parseFloat(style.paddingRight);
    return Math.max(260, Math.min(860, Math.floor(inner)));
  }

  private bar(where: string): HTMLElement {
    const button = (label: string, text: string, click: () => void) =>
      el("button", { type: "button", "aria-label": label, title: label, click }, text);
    return el(
      "div",
      { class: "bar" },
      el("span", { class: "muted" }, where),
      button("Previous case", "↑", () => this.events.step(-1)),
      button("Next case", "↓", () => this.events.step(1)),
      button("Close (Escape)", "✕", () => this.events.close()),
    );
  }

  private content(of: Case, width: number): Node[] {
    const { values, spreads, kernels } = this.report.details(of);
    const { reasons = [], why = [], notes = [], log = "", machine_code = [] } = of.data;
    const told = values.flatMap(({ sentence }) => (sentence !== null && !reasons.includes(sentence) ? [sentence] : []));
    const valueOf = (metric: string) => values.find((value) => value.metric.name === metric);
    // What the gate judged comes first, and of that what is worst.
    const judged = (spread: Spread) => valueOf(spread.metric.name)?.verdict?.severity ?? -1;
    const charts = [...spreads]
      .sort((left, right) => judged(right) - judged(left))
      .map((spread) => spreadChart(spread, this.report.text(spread.method), valueOf(spread.metric.name), width))
      .filter((chart) => chart !== null);
    const point = this.points().find((candidate) => candidate.of === of);
    const passed = `${wordOf(of.verdict)}: ${values.filter((value) => value.verdict).length} metrics were judged`;
    const nodes: (Node | null)[] = [
      this.heading,
      el("p", { class: "verdict" }, badge(of.verdict)),
      section("Verdict", lines(reasons.length > 0 ? reasons : [passed])),
      why.length > 0 ? section("Why", lines(why)) : null,
      machine_code.length > 0 ? section("Machine code", ...codeViews(machine_code)) : null,
      log !== "" ? section("Last lines of standard error", el("pre", { tabindex: 0 }, log)) : null,
      ...charts,
      point ? caseRoofline(this.report, this.points(), point, width) : null,
      values.length > 0 ? section("Metrics, before and after", metricTable(values, why, this.report)) : null,
      told.length > 0 ? section("By metric", lines(told)) : null,
      kernels.length > 0 ? section("Kernels", kernelTable(kernels)) : null,
      notes.length > 0 ? section("Notes", lines(notes)) : null,
      section("Circumstances", circumstances(of, this.report)),
    ];
    return nodes.filter((node) => node !== null);
  }
}
