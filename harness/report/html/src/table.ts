// SPDX-License-Identifier: Apache-2.0
// The cases, one row each. Only rows near the viewport are in the page, so that thousands scroll
// like ten; the grid reports their number to screen readers. It scrolls with the page.
import type { Case } from "./document";
import { el, name } from "./dom";
import type { Selection, SortKey } from "./selection";
import { badge, toneOf } from "./verdicts";

const columns: readonly { key: SortKey; label: string; number: boolean }[] = [
  { key: "verdict", label: "Verdict", number: false },
  { key: "case", label: "Case", number: false },
  { key: "before", label: "Baseline", number: true },
  { key: "after", label: "This run", number: true },
  { key: "change", label: "Change", number: true },
];

/** Above and below the viewport. */
const spareRows = 20;
/** A longer printout is of no use; the page states how many rows it leaves out. */
const mostPrinted = 300;

/** Of an id, as the style sheet says. */
const lineHeight = 20;

/** In columns, at most. */
function widthOf(text: string): number {
  let width = 0;
  for (const character of text) width += (character.codePointAt(0) ?? 0) < 0x300 ? 1 : 2;
  return width;
}

export interface TableEvents {
  open(of: Case): void;
  sort(key: SortKey): void;
}

export class CaseTable {
  readonly element: HTMLElement;
  private readonly head = el("div", { role: "row", class: "row head", "aria-rowindex": 1 });
  private readonly body = el("div", { role: "rowgroup", class: "rows" });
  private readonly leftOut = el("p", { class: "print-only" });
  private cases: Case[] = [];
  private active = 0;
  private openKey = "";
  private readonly drawn = new Map<number, HTMLElement>(); // rows in the page
  private printing = false;

  constructor(private readonly events: TableEvents) {
    const grid = el(
      "div",
      { role: "grid", class: "grid", tabindex: 0, "aria-label": "Cases", "aria-describedby": "keys" },
      el("div", { role: "rowgroup", class: "heads" }, this.head),
      this.body,
    );
    this.grid = grid;
    this.element = el("div", { class: "table" }, grid, this.leftOut);
    grid.addEventListener("keydown", (event) => this.keyDown(event));
    grid.addEventListener("focus", () => this.reveal());
    this.body.addEventListener("click", (event) => {
      const row = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-row]") : null;
      if (row) this.choose(Number(row.dataset["row"]));
    });
    const redraw = () => window.requestAnimationFrame(() => this.draw());
    window.addEventListener("scroll", redraw, { passive: true });
    window.addEventListener("resize", redraw);
    window.addEventListener("beforeprint", () => this.print(true));
    window.addEventListener("afterprint", () => this.print(false));
  }

  private readonly grid: HTMLElement;

  show(cases: Case[], selection: Selection): void {
    const activeKey = this.cases[this.active]?.key;
    this.cases = cases;
    this.openKey = selection.open;
    const wanted = selection.open === "" ? activeKey : selection.open;
    this.active = Math.max(0, cases.findIndex((of) => of.key === wanted));
    this.grid.setAttribute("aria-rowcount", String(cases.length + 1));
    this.drawHead(selection);
    this.body.style.setProperty("--count", String(cases.length));
    this.clear();
    if (cases.length > 0) this.fitRows();
    this.draw();
  }

  focus(): void {
    this.grid.focus({ preventScroll: true });
    this.reveal();
  }

  private drawHead(selection: Selection): void {
    const focused = this.head.contains(document.activeElement) ? document.activeElement?.getAttribute("data-sort") : null;
    this.head.replaceChildren(
      ...columns.map(({ key, label, number }) => {
        const sorted = selection.sort === key;
        const direction = sorted ? (selection.descending ? "descending" : "ascending") : "none";
        return el(
          "div",
          { role: "columnheader", class: `cell ${key}`, "aria-sort": direction, "data-number": number },
          el(
            "button",
            { type: "button", "data-sort": key, click: () => this.events.sort(key) },
            label,
            el("span", { class: "arrow", "aria-hidden": "true" }, sorted ? (selection.descending ? "↓" : "↑") : ""),
          ),
        );
      }),
    );
    if (focused) this.head.querySelector<HTMLElement>(`[data-sort="${focused}"]`)?.focus();
  }

  /** Rows have one height: what the longest id that is shown needs. */
  private fitRows(): void {
    this.body.style.removeProperty("--row-height");
    const usual = this.rowHeight();
    const probe = el("span", { class: "id", style: "position: absolute; visibility: hidden" }, "0".repeat(50));
    const cell = this.row(0).querySelector<HTMLElement>(".cell.case");
    const row = cell?.parentElement;
    if (!cell || !row) return;
    this.body.append(row);
    cell.append(probe);
    probe.style.whiteSpace = "nowrap";
    const perLine = Math.max(8, Math.floor((cell.clientWidth / probe.getBoundingClientRect().width) * 50));
    row.remove();
    const longest = this.cases.reduce((most, of) => Math.max(most, widthOf(of.id)), 0);
    const lines = Math.ceil(longest / perLine);
    if (lines > 1) this.body.style.setProperty("--row-height", String(usual + (lines - 1) * lineHeight));
  }

  private rowHeight(): number {
    return Number.parseFloat(getComputedStyle(this.body).getPropertyValue("--row-height")) || 48;
  }

  private draw(): void {
    const height = this.rowHeight();
    const top = this.body.getBoundingClientRect().top;
    let first = Math.max(0, Math.floor(-top / height) - spareRows);
    let last = Math.min(this.cases.length, Math.ceil((window.innerHeight - top) / height) + spareRows);
    if (this.printing) [first, last] = [0, Math.min(this.cases.length, mostPrinted)];
    for (const [index, row] of this.drawn) {
      if (index >= first && index < last) continue;
      row.remove();
      this.drawn.delete(index);
    }
    // Rows that stay are not touched: one may be in the middle of a click.
    let next: Element | null = null;
    for (let i = last - 1; i >= first; --i) {
      let row = this.drawn.get(i);
      if (!row) {
        row = this.row(i);
        this.drawn.set(i, row);
        this.body.insertBefore(row, next);
      }
      row.toggleAttribute("data-active", i === this.active);
      next = row;
    }
    const shown = this.active >= first && this.active < last;
    if (shown && this.cases.length > 0) {
      this.grid.setAttribute("aria-activedescendant", `row-${this.active}`);
    } else {
      this.grid.removeAttribute("aria-activedescendant");
    }
  }

  private row(index: number): HTMLElement {
    const of = this.cases[index];
    if (!of) throw new Error(`there is no row ${index}`);
    const shown = of.shown;
    const cell = (key: SortKey, ...children: (Node | string)[]) =>
      el("div", { role: "gridcell", class: `cell ${key}` }, ...children);
    return el(
      "div",
      {
        role: "row",
        class: "row",
        id: `row-${index}`,
        "data-row": index,
        "data-tone": toneOf(of.verdict),
        "aria-rowindex": index + 2,
        "aria-selected": of.key === this.openKey ? "true" : "false",
        style: this.printing ? null : `top: calc(${index} * var(--row-height) * 1px)`,
      },
      cell("verdict", badge(of.verdict)),
      cell("case", name(of.id, { class: "id", title: of.id }), el("span", { class: "reason", title: of.reason }, of.reason)),
      cell("before", shown?.before_text ?? ""),
      cell("after", shown?.after_text ?? ""),
      cell(
        "change",
        shown?.moved ?? "",
        // A row is about its time unless it says otherwise.
        shown && shown.metric.unit !== "ns" ? el("span", { class: "metric" }, name(shown.metric.name)) : "",
      ),
    );
  }

  private clear(): void {
    this.drawn.clear();
    this.body.replaceChildren();
  }

  private print(printing: boolean): void {
    this.printing = printing;
    this.clear();
    const rest = this.cases.length - mostPrinted;
    this.leftOut.textContent = rest > 0 ? `${rest} more cases are not printed: filter the page first.` : "";
    this.draw();
  }

  private choose(index: number): void {
    const of = this.cases[index];
    if (!of) return;
    this.active = index;
    this.draw();
    this.events.open(of);
  }

  private move(to: number): void {
    this.active = Math.min(this.cases.length - 1, Math.max(0, to));
    this.reveal();
  }

  /** Scrolls so that the active row is visible, below the header. */
  private reveal(): void {
    if (this.cases.length === 0) return;
    const height = this.rowHeight();
    const top = this.body.getBoundingClientRect().top + this.active * height;
    const headHeight = this.head.getBoundingClientRect().height;
    if (top < headHeight) window.scrollBy(0, top - headHeight);
    const below = top + height - window.innerHeight;
    if (below > 0) window.scrollBy(0, below);
    this.draw();
  }

  private keyDown(event: KeyboardEvent): void {
    if (event.target !== this.grid || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(window.innerHeight / this.rowHeight()) - 2);
    const moves: Record<string, number> = {
      ArrowDown: this.active + 1,
      ArrowUp: this.active - 1,
      PageDown: this.active + page,
      PageUp: this.active - page,
      Home: 0,
      End: this.cases.length - 1,
    };
    const to = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (to !== undefined) {
      this.move(to);
    } else if (event.key === "Enter" || event.key === " ") {
      this.choose(this.active);
    } else {
      return;
    }
    event.preventDefault();
  }
}
