// SPDX-License-Identifier: Apache-2.0
// The tables, one at a time: sorted by a column, filtered by the words that are searched for.
import { el, name } from "../dom";
import { quantityText } from "../quantity";
import type { Calls, Collective, Copies, Gap, HostActivity, Kernel, Process, Ranges } from "./data";
import { timeText } from "./draw";

export interface TableEvents {
  /** Somebody wants to see where a name is in the timeline. */
  find(text: string): void;
  zoomTo(begin: number, end: number): void;
  rankOf(kernel: string): number | undefined;
}

/** A cell: its text, and what it sorts by where that is another. */
interface Cell {
  text: string;
  value?: number;
  share?: number; // of the whole: drawn as a bar
  find?: string; // a name that the timeline has
  swatch?: number; // the colour of a kernel, by rank
  zoom?: [begin: number, end: number];
}

interface Table {
  id: string;
  title: string;
  columns: { label: string; number: boolean }[];
  rows: Cell[][];
  all: number;
}

const shownAtFirst = 25;

const time = (ns: number): Cell => ({ text: timeText(ns), value: ns });
const unknown: Cell = { text: "–", value: -1 };
const count = (value: number): Cell => ({ text: value.toLocaleString("en"), value });
const shareOf = (part: number, whole: number): number => (whole > 0 ? part / whole : 0);
const percent = (share: number): Cell => ({ text: `${(share * 100).toFixed(1)} %`, value: share });

function table<Row>(id: string, title: string, data: Row[], columns: string[], cells: (row: Row) => Cell[]): Table {
  const rows = data.map(cells);
  return {
    id,
    title,
    all: rows.length,
    rows,
    columns: columns.map((label, i) => ({ label, number: rows[0]?.[i]?.value !== undefined })),
  };
}

function callTable(id: string, title: string, data: Calls[], withIdle: boolean): Table {
  const total = data.reduce((sum, call) => sum + call.total_ns, 0);
  const idle = withIdle ? ["GPU idle after"] : [];
  return table(id, title, data, ["Name", "Time", "Share", "Calls", "Median", "Max", ...idle], (call: Calls) => [
    { text: call.name, find: call.name },
    { ...time(call.total_ns), share: shareOf(call.total_ns, total) },
    percent(shareOf(call.total_ns, total)),
    count(call.count),
    time(call.median_ns),
    time(call.max_ns),
    ...(withIdle ? [time(call.idle_ns ?? 0)] : []),
  ]);
}

export function tablesOf(process: Process, rankOf: TableEvents["rankOf"]): Table[] {
  const { program, kernels, ranges, copies, communication = [], calls, waits, gaps } = process.profile;
  const copied = copies.reduce((sum, copy) => sum + copy.total_ns, 0);
  const ranged = Math.max(...ranges.map((range) => range.total_ns), 0);
  const sampled = [...new Set([process.profile, ...ranges].flatMap((each) => Object.keys(each.sampled ?? {})))];
  const sampledLabels = sampled.map((metric) => process.samples?.find((row) => row.name === metric)?.label ?? metric);
  const extent = (sizes: readonly number[], several: boolean) => ({ text: sizes.join("×") + (several ? " …" : "") });
  const tables = [
    table("kernels", "Kernels", kernels, ["Name", "Time", "Share", "Launches", "Median", "Min", "Max", "Registers", "Grid", "Block"], (kernel: Kernel) => {
      const share = shareOf(kernel.total_ns, program.kernel_time_ns);
      const rank = rankOf(kernel.name);
      const several = kernel.configurations > 1;
      return [
        { text: kernel.name, find: kernel.name, swatch: rank ?? -1 },
        { ...time(kernel.total_ns), share },
        percent(share),
        count(kernel.count),
        time(kernel.median_ns),
        time(kernel.min_ns),
        time(kernel.max_ns),
        count(kernel.registers),
        extent(kernel.grid, several),
        extent(kernel.block, several),
      ];
    }),
    table("ranges", "NVTX ranges", ranges, ["Name", "Host time", "Instances", "Median", "GPU time", "GPU idle", "Kernels", "Copies", "Synchronisations", ...sampledLabels], (range: Ranges) => [
      { text: range.name, find: range.name },
      { ...time(range.total_ns), share: shareOf(range.total_ns, ranged) },
      count(range.count),
      time(range.median_ns),
      time(range.work.gpu_time_ns),
      percent(shareOf(range.work.idle_ns, range.work.span_ns)),
      count(range.work.kernels),
      count(range.work.copies),
      calls.length > 0 ? count(range.work.synchronisations) : { text: "–", value: 0 },
      ...sampled.map((metric) => {
        const mean = range.sampled?.[metric]?.mean ?? -1;
        if (mean < 0) return unknown;
        return { text: metric.endsWith("_per_s") ? quantityText(mean, "bytes/s") : `${mean.toFixed(1)} %`, value: mean };
      }),
    ]),
    table("copies", "Copies", copies, ["Kind", "Host memory", "Time", "Copies", "Bytes", "Rate", "Median"], (copy: Copies) => [
      { text: copy.kind, find: copy.kind },
      { text: copy.memory },
      { ...time(copy.total_ns), share: shareOf(copy.total_ns, copied) },
      count(copy.count),
      { text: quantityText(copy.bytes, "bytes"), value: copy.bytes },
      { text: quantityText(copy.bytes_per_s, "bytes/s"), value: copy.bytes_per_s },
      time(copy.median_ns),
    ]),
    table("communication", "Communication", communication, ["Name", "Time", "Calls", "Size", "Median", "Bus rate", "Last", "Waited", "Communicator", "Ranks"], (each: Collective) => [
      { text: each.name, find: `NCCL:nccl${each.name}` },
      each.count > 0 ? time(each.total_ns) : unknown,
      count(each.calls),
      { text: quantityText(each.bytes, "bytes"), value: each.bytes },
      each.count > 0 ? time(each.median_ns) : unknown,
      { text: each.bus_bytes_per_s > 0 ? quantityText(each.bus_bytes_per_s, "bytes/s") : "–", value: each.bus_bytes_per_s },
      each.last === undefined ? unknown : { text: `${each.last} of ${each.compared ?? 0}`, value: each.last },
      each.wait_ns === undefined ? unknown : time(each.wait_ns),
      { text: each.communicator },
      count(each.ranks),
    ]),
    callTable("calls", "CUDA calls", calls, false),
    callTable("waits", "Waits", waits, true),
    table("host", "Host while idle", process.profile.host ?? [], ["Function", "Time", "Share", "State", "Place"], (host: HostActivity) => [
      { text: host.name },
      { ...time(host.time_ns), share: shareOf(host.time_ns, process.profile.host_sampled_ns ?? 0) },
      percent(shareOf(host.time_ns, process.profile.host_sampled_ns ?? 0)),
      { text: host.state ?? "–" },
      { text: (host.file ?? "") + (host.line ? `:${host.line}` : "") },
    ]),
    table("gaps", "Longest gaps", gaps, ["At", "Length", "Cause", "Range", "Ran before", "Ran after", "In calls"], (gap: Gap) => [
      { ...time(gap.begin_ns), zoom: [gap.begin_ns, gap.end_ns] },
      { ...time(gap.end_ns - gap.begin_ns), share: shareOf(gap.end_ns - gap.begin_ns, program.idle_ns) },
      { text: gap.cause.replaceAll("_", " ") + (gap.call ? `: ${gap.call}` : "") + (gap.host ? ` in ${gap.host}` : "") },
      { text: gap.range ?? "–" },
      { text: gap.before },
      { text: gap.after },
      gap.cause === "not_recorded" ? { text: "–", value: 0 } : time(gap.in_calls_ns),
    ]),
  ];
  return tables.map((each) => ({ ...each, all: process.all[each.id] ?? each.all }));
}

/** The tabs, and the table of the one that is chosen. */
export class Tables {
  readonly element: HTMLElement;
  private readonly tabs = el("div", { role: "tablist", "aria-label": "Tables", class: "tabs" });
  private readonly panel = el("div", { role: "tabpanel", id: "table", class: "panel", tabindex: 0 });
  private tables: Table[] = [];
  private chosen = "kernels";
  private text = "";
  private sort: { column: number; descending: boolean } | null = null;
  private whole = false;

  constructor(private readonly events: TableEvents) {
    this.element = el("section", { "aria-label": "Tables", class: "tables" }, this.tabs, this.panel);
    this.tabs.addEventListener("keydown", (event) => {
      const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (by === 0) return;
      const at = this.tables.findIndex((known) => known.id === this.chosen);
      const next = this.tables[(at + by + this.tables.length) % this.tables.length];
      if (next) this.choose(next.id);
      this.tabs.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
    });
  }

  open(tables: Table[]): void {
    this.tables = tables;
    if (!tables.some((known) => known.id === this.chosen && known.rows.length > 0)) {
      this.chosen = tables.find((known) => known.rows.length > 0)?.id ?? "kernels";
    }
    this.sort = null;
    this.whole = false;
    this.render();
  }

  filter(text: string): void {
    this.text = text.toLowerCase();
    this.render();
  }

  private choose(id: string): void {
    this.chosen = id;
    this.sort = null;
    this.whole = false;
    this.render();
  }

  private matching(table: Table): Cell[][] {
    if (this.text === "") return table.rows;
    return table.rows.filter((row) => row.some((cell) => cell.value === undefined && cell.text.toLowerCase().includes(this.text)));
  }

  private render(): void {
    this.tabs.replaceChildren(
      ...this.tables.map((table) => {
        const isChosen = table.id === this.chosen;
        const found = this.matching(table).length;
        const number = this.text === "" ? String(table.all) : `${found} of ${table.all}`;
        return el(
          "button",
          {
            type: "button",
            role: "tab",
            id: `tab-${table.id}`,
            "aria-selected": isChosen ? "true" : "false",
            "aria-controls": "table",
            tabindex: isChosen ? 0 : -1,
            click: () => this.choose(table.id),
          },
          table.title,
          el("span", { class: "muted" }, ` ${number}`),
        );
      }),
    );
    this.panel.setAttribute("aria-labelledby", `tab-${this.chosen}`);
    const table = this.tables.find((known) => known.id === this.chosen);
    if (table) this.panel.replaceChildren(...this.content(table));
  }

  private sorted(rows: Cell[][]): Cell[][] {
    if (!this.sort) return rows;
    const { column, descending } = this.sort;
    const order = (left: Cell[], right: Cell[]) => {
      const [a, b] = [left[column], right[column]];
      if (!a || !b) return 0;
      return a.value !== undefined && b.value !== undefined ? a.value - b.value : a.text.localeCompare(b.text, "en", { numeric: true });
    };
    return [...rows].sort((left, right) => (descending ? -1 : 1) * order(left, right));
  }

  private content(table: Table): HTMLElement[] {
    const found = this.sorted(this.matching(table));
    if (found.length === 0) {
      return [el("p", { class: "none muted" }, table.rows.length === 0 ? "Nothing of this kind is on record." : "No row has these words.")];
    }
    const rows = this.whole ? found : found.slice(0, shownAtFirst);
    const parts = [
      el(
        "div",
        { class: "wide" },
        el("table", { class: table.id }, el("thead", {}, this.head(table)), el("tbody", {}, ...rows.map((row) => this.row(row)))),
      ),
    ];
    if (rows.length < found.length) {
      const all = () => {
        this.whole = true;
        this.render();
      };
      parts.push(el("p", {}, el("button", { type: "button", click: all }, `Show all ${found.length} rows`)));
    }
    if (table.rows.length < table.all) {
      parts.push(el("p", { class: "muted" }, `This page has the first ${table.rows.length} of ${table.all} rows; --report with json or sqlite has all.`));
    }
    return parts;
  }

  private head(table: Table): HTMLElement {
    return el(
      "tr",
      {},
      ...table.columns.map(({ label, number }, column) => {
        const isSorted = this.sort?.column === column;
        const direction = isSorted ? (this.sort?.descending ? "descending" : "ascending") : "none";
        const choose = () => {
          this.sort = { column, descending: isSorted ? !this.sort?.descending : number };
          this.render();
          this.panel.querySelectorAll<HTMLElement>("thead button")[column]?.focus();
        };
        const arrow = isSorted ? (this.sort?.descending ? " ↓" : " ↑") : "";
        return el(
          "th",
          { scope: "col", "aria-sort": direction, class: number ? "number" : "" },
          el("button", { type: "button", click: choose }, label, el("span", { "aria-hidden": "true" }, arrow)),
        );
      }),
    );
  }

  private row(cells: Cell[]): HTMLElement {
    return el(
      "tr",
      {},
      ...cells.map((cell) => {
        const { find, zoom, swatch, share } = cell;
        const action = find !== undefined ? () => this.events.find(find) : zoom ? () => this.events.zoomTo(...zoom) : null;
        const text = name(cell.text);
        const words = find !== undefined ? "Find it in the timeline" : "Show it in the timeline";
        return el(
          "td",
          {
            class: [cell.value !== undefined ? "number" : "", share !== undefined ? "share" : ""].join(" ").trim() || null,
            style: share === undefined ? null : `--share: ${(Math.min(share, 1) * 100).toFixed(2)}%`,
          },
          el(
            "div",
            { class: swatch === undefined ? null : "named" },
            swatch !== undefined && el("span", { class: "swatch", "aria-hidden": "true", style: `--colour: var(--kernel-${swatch < 0 ? "other" : swatch})` }),
            action ? el("button", { type: "button", class: "find", title: `${cell.text}\n${words}`, click: action }, text) : text,
          ),
        );
      }),
    );
  }
}
