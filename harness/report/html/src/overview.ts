// SPDX-License-Identifier: Apache-2.0
// The whole run: exit code, counts of verdicts, environment.
import type { Data, Suite, Verdict } from "./data";
import type { Report } from "./document";
import { el, facts, name } from "./dom";
import type { Selection } from "./selection";
import { badge, toneOf, wordOf } from "./verdicts";

const outcomes: Record<number, [words: string, tone: string]> = {
  0: ["Passed", "good"],
  1: ["Failed", "bad"],
  2: ["Nothing was measured", "bad"],
  3: ["Not everything could be measured", "bad"],
  4: ["Failed by policy: inconclusive, or no baseline", "bad"],
  130: ["Interrupted", "warn"],
};

/** The exit code in words. */
export function outcomeOf({ data }: Report): { words: string; tone: string } {
  const [words, tone] = outcomes[data.exit_code] ?? [`Exit code ${data.exit_code}`, "warn"];
  return { words: data.exit_code === 0 && data.verify_only ? "Verified" : words, tone };
}

/** Those that the first screen has; the device is in the header. */
const headFacts = ["revision", "compared with", "pull request", "began", "took"];

const shortCommit = (text: string) => text.replace(/\b([0-9a-f]{12})[0-9a-f]{28}\b/g, "$1");

function suites({ suites, notes = [] }: Data): HTMLElement {
  const words = [notes.length === 1 ? "1 note" : `${notes.length} notes`].filter(() => notes.length > 0);
  if (suites.length > 1) words.unshift(`${suites.length}`);
  const line = ({ counts, relations_in_words: relations = "", baseline = "" }: Suite) =>
    [counts, relations, baseline === "" ? "" : `baseline ${baseline}`].filter((text) => text !== "").join("; ");
  const of = (names: readonly string[]) => (names.length > 0 ? ` (${names.join(", ")})` : "");
  return el(
    "details",
    { class: "suites" },
    el("summary", {}, suites.length > 1 ? "Suites" : "Suite", el("span", { class: "muted" }, ` ${words.join(", ")}`)),
    el(
      "ul",
      {},
      ...suites.map((suite) => el("li", {}, el("strong", {}, name(suite.name)), ` ${line(suite)}`)),
      ...notes.map((note) => el("li", {}, name(note.text + of(note.suites ?? [])))),
    ),
  );
}

/** A click selects a command as a whole. */
function commands({ commands: all = [] }: Data): HTMLElement | null {
  if (all.length === 0) return null;
  return el(
    "dl",
    { class: "commands", "aria-label": "What to do next" },
    ...all.map(({ purpose, line }) => el("div", {}, el("dt", {}, purpose), el("dd", {}, el("code", { tabindex: 0 }, line)))),
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
    el("summary", {}, "Relations", el("span", { class: "muted" }, ` ${words}`)),
    el(
      "ul",
      { class: "relations", tabindex: 0, "aria-label": "Relations" },
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
  const head = headFacts.flatMap((label) =>
    report.data.facts.filter(([known]) => known === label).map(([known, text]): [string, string] => [known, shortCommit(text)]),
  );
  const roofline = el("div", { class: "roofline" });
  const element = el(
    "section",
    { id: "overview", "aria-labelledby": "outcome" },
    el(
      "div",
      { class: "outcome", "data-tone": outcome.tone },
      el("h1", { id: "outcome" }, outcome.words),
      report.data.summary ? el("p", { class: "summary" }, name(report.data.summary)) : null,
      el(
        "div",
        { class: "chips", role: "group", "aria-label": "Show cases by verdict" },
        ...chips.map(({ chip }) => chip),
        el("span", { class: "muted" }, `exit code ${report.data.exit_code}`),
      ),
    ),
    facts(head),
    commands(report.data),
    el(
      "div",
      { class: "more" },
      suites(report.data),
      relations(report.data.suites, report.data.verdicts),
      el("details", { class: "whole-roofline" }, el("summary", {}, "Roofline"), roofline),
      el(
        "details",
        {},
        el("summary", {}, "Environment"),
        facts(report.data.facts.filter(([label]) => !["began", "took"].includes(label))),
      ),
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
