// SPDX-License-Identifier: Apache-2.0
// Which cases are shown, in which order, and which one is open: a value that is stored in the
// address, so that a link restores it.
import type { Case } from "./document";

export const sortKeys = ["verdict", "case", "before", "after", "change"] as const;
export type SortKey = (typeof sortKeys)[number];

export interface Selection {
  text: string;
  verdicts: string[]; // none: all
  suite: string; // "": all
  workload: string;
  tag: string;
  sort: SortKey;
  descending: boolean;
  open: string; // key of a case; "": none
}

export const everything: Selection = {
  text: "",
  verdicts: [],
  suite: "",
  workload: "",
  tag: "",
  sort: "verdict",
  descending: true,
  open: "",
};

export function isFiltered(selection: Selection): boolean {
  const { text, verdicts, suite, workload, tag } = selection;
  return text !== "" || verdicts.length > 0 || suite !== "" || workload !== "" || tag !== "";
}

export function toHash(selection: Selection): string {
  const fields = new URLSearchParams();
  for (const key of ["text", "suite", "workload", "tag"] as const) {
    if (selection[key] !== "") fields.set(key, selection[key]);
  }
  if (selection.verdicts.length > 0) fields.set("verdict", selection.verdicts.join(","));
  if (selection.sort !== everything.sort || selection.descending !== everything.descending) {
    fields.set("sort", (selection.descending ? "-" : "") + selection.sort);
  }
  if (selection.open !== "") fields.set("case", selection.open);
  const text = fields.toString();
  return text === "" ? "" : `#${text}`;
}

/** Accepts any text: unknown parts are ignored. */
export function fromHash(hash: string): Selection {
  const fields = new URLSearchParams(hash.replace(/^#/, ""));
  const sort = fields.get("sort");
  const key = sortKeys.find((known) => known === sort?.replace(/^-/, ""));
  return {
    text: fields.get("text") ?? "",
    verdicts: (fields.get("verdict") ?? "").split(",").filter((name) => name !== ""),
    suite: fields.get("suite") ?? "",
    workload: fields.get("workload") ?? "",
    tag: fields.get("tag") ?? "",
    sort: key ?? everything.sort,
    descending: key ? (sort ?? "").startsWith("-") : everything.descending,
    open: fields.get("case") ?? "",
  };
}

/** The change of a row; from nothing to something it is larger than any other. */
function changeShown(of: Case): number | null {
  const { shown } = of;
  if (shown && shown.before === 0 && shown.after) return Math.sign(shown.after) * Number.MAX_VALUE;
  return shown?.change ?? null;
}

/** What users feel first: of equally bad ones times before counters, then by size of the change. */
function worstFirst(left: Case, right: Case): number {
  const isTime = (of: Case) => Number(of.shown?.metric.unit === "ns");
  const change = (of: Case) => Math.abs(changeShown(of) ?? 0);
  return right.verdict.severity - left.verdict.severity || isTime(right) - isTime(left) || Math.sign(change(right) - change(left));
}

const sortValues: Record<SortKey, (of: Case) => number | string | null> = {
  verdict: (of) => of.verdict.severity,
  case: (of) => of.id,
  before: (of) => of.shown?.before ?? null,
  after: (of) => of.shown?.after ?? null,
  change: changeShown,
};

const byName = new Intl.Collator("en", { numeric: true });

function ordered(cases: Case[], selection: Selection): Case[] {
  const sign = selection.descending ? -1 : 1;
  if (selection.sort === "verdict") return cases.sort((left, right) => -sign * worstFirst(left, right));
  return cases.sort((left, right) => {
    const a = sortValues[selection.sort](left);
    const b = sortValues[selection.sort](right);
    // Cases without a value come last in both directions.
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    const order = typeof a === "string" || typeof b === "string" ? byName.compare(String(a), String(b)) : a - b;
    return sign * order;
  });
}

export function select(cases: readonly Case[], selection: Selection): Case[] {
  const words = selection.text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const verdicts = new Set(selection.verdicts);
  const chosen = cases.filter(
    (of) =>
      (verdicts.size === 0 || verdicts.has(of.verdict.name)) &&
      (selection.suite === "" || of.suite.name === selection.suite) &&
      (selection.workload === "" || of.workload === selection.workload) &&
      (selection.tag === "" || of.tags.includes(selection.tag)) &&
      words.every((word) => of.searched.includes(word)),
  );
  return ordered(chosen, selection);
}
