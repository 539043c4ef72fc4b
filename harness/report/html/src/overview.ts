// SPDX-License-Identifier: Apache-2.0
// The whole run: exit code, counts of verdicts, environment.
import type { Suite, Verdict } from "./data";
import type { Report } from "./document";
import { el, name } from "./dom";
import type { Selection } from "./selection";
import { badge, toneOf, wordOf } from "./verdicts";

/** The exit code in words, as in the README. */
export function outcomeOf(report: Report): { words: string; tone: string } {
  switch (report.data.exit_code) {
    case 0:
      return report.data.verify_only ? { words: "Verified", tone: "good" } : { words: "Passed", tone: "good" };
    case 1:
      return { words: "Failed", tone: "bad" };
    case 2:
      return { words: "Nothing was measured", tone: "bad" };
    case 3:
      return { words: "Not everything could be measured", tone: "bad" };
    case 4:
      return { words: "Failed by policy: inconclusive, or no baseline", tone: "bad" };
    case 130:
      return { words: "Interrupted", tone: "warn" };
    default:
      return { words: `Exit code ${report.data.exit_code}`, tone: "warn" };
  }
}

const headFacts = ["device", "driver", "revision", "began", "took"];

function facts(rows: readonly [string, string][]): HTMLElement {
  return el("dl", { class: "facts" }, ...rows.map(([label, value]) => el("div", {}, el("dt", {}, label), el("dd", {}, name(value)))));
}

function suiteNotes(suite: Suite, several: boolean): HTMLElement {
  const lines = [
    ...(suite.baseline ? [`baseline ${suite.baseline}`] : []),
    ...(suite.notes ?? []),
  ];
  const counts = [suite.counts, suite.relations_in_words].filter((text) => text).join("; ");
  return el(
    "div",
    { class: "suite" },
    el("h2", {}, name(suite.name), el("span", { class: "muted" }, ` ${several ? counts : (suite.relations_in_words ?? "")}`)),
    lines.length > 0 ? el("ul", {}, ...lines.map((line) => el("li", {}, name(line)))) : null,
  );
}

function relations(suites: readonly Suite[], verdicts: readonly Verdict[]): HTMLElement | null {
  const rows = suites.flatMap((suite) => (suite.relations ?? []).map((relation) => ({ relation, verdict: verdicts[relation.verdict] })));
  if (rows.length === 0) return null;
  rows.sort((left, right) => (right.verdict?.severity ?? 0) - (left.verdict?.severity ?? 0));
  const broken = rows.filter(({ verdict }) => verdict && toneOf(verdict) === "bad").length;
  const words = broken > 0 ? `${broken} of ${rows.length} broken or not judged` : `${rows.length}`;
  return el(
    "details",
    { open: broken > 0 },
    el("summary", {}, "Relations between cases", el("span", { class: "muted" }, ` ${words}`)),
    el(
      "ul",
      { class: "relations" },
      ...rows.map(({ relation, verdict }) =>
        el(
          "li",
          {},
          verdict ? badge(verdict, relation.word) : null,
          el("div", {}, name(relation.name, { class: "id" }), el("p", { class: "muted" }, name(relation.sentence))),
        ),
      ),
    ),
  );
}

/** Why cases need attention, worst first. */
function reasons(report: Report): HTMLElement | null {
  const { groups, more_groups: rest = 0 } = report.data;
  if (groups.length < 2) return null; // the sentence says it
  return el(
    "ul",
    { class: "reasons" },
    ...groups.map(({ effect, cases, sentence }) =>
      el(
        "li",
        {},
        el("strong", {}, `${cases} ${effect.replaceAll("_", " ")}`),
        sentence === "" ? "" : ": ",
        name(sentence),
      ),
    ),
    rest > 0 ? el("li", {}, `and ${rest} more reasons`) : null,
  );
}

export interface Overview {
  element: HTMLElement;
  show(selection: Selection): void;
  roofline: HTMLElement; // empty: filled when it is opened
}

export function overview(report: Report, toggleVerdict: (verdict: string) => void): Overview {
  const outcome = outcomeOf(report);
  const counts = new Map<Verdict, number>();
  for (const of of report.cases) counts.set(of.verdict, (counts.get(of.verdict) ?? 0) + 1);
  const chips = [...counts]
    .sort(([left], [right]) => right.severity - left.severity)
    .map(([verdict, count]) => {
      const chip = el(
        "button",
        { type: "button", class: "chip", "aria-pressed": "false", click: () => toggleVerdict(verdict.name) },
        badge(verdict, ""),
        el("strong", {}, String(count)),
        ` ${wordOf(verdict)}`,
      );
      return { verdict, chip };
    });
  const head = headFacts.flatMap((label) => report.data.facts.filter(([known]) => known === label));
  const roofline = el("div", { class: "roofline" });
  const several = report.data.suites.length > 1;
  const element = el(
    "section",
    { id: "overview", "aria-labelledby": "outcome" },
    el(
      "div",
      { class: "outcome", "data-tone": outcome.tone },
      el("h1", { id: "outcome" }, outcome.words),
      report.data.summary ? el("p", { class: "summary" }, name(report.data.summary)) : null,
      el("p", {}, `${report.data.counts} · exit code ${report.data.exit_code}`),
    ),
    reasons(report),
    el("div", { class: "chips", role: "group", "aria-label": "Show cases by verdict" }, ...chips.map(({ chip }) => chip)),
    facts(head),
    el("div", { class: "suites" }, ...report.data.suites.map((suite) => suiteNotes(suite, several))),
    relations(report.data.suites, report.data.verdicts),
    el("details", { class: "whole-roofline" }, el("summary", {}, "Roofline of all cases"), roofline),
    el(
      "details",
      {},
      el("summary", {}, "Environment"),
      facts(report.data.facts.filter(([label]) => !headFacts.includes(label))),
    ),
  );
  return {
    element,
    roofline,
    show(selection) {
      for (const { verdict, chip } of chips) {
        chip.setAttribute("aria-pressed", String(selection.verdicts.includes(verdict.name)));
      }
    },
  };
}
