// SPDX-License-Identifier: Apache-2.0
// The filters of the cases, in addition to the counts of verdicts.
import type { Report } from "./document";
import { debounced, el } from "./dom";
import { everything, isFiltered, type Selection } from "./selection";

export interface FilterBar {
  element: HTMLElement;
  show(selection: Selection): void;
  focus(): void;
}

const byName = new Intl.Collator("en", { numeric: true });

export function filterBar(report: Report, change: (change: Partial<Selection>) => void): FilterBar {
  const text = el("input", {
    type: "search",
    id: "filter",
    placeholder: "name, tag, reason …",
    autocomplete: "off",
    spellcheck: "false",
    "aria-keyshortcuts": "/",
  });
  text.addEventListener("input", debounced(80, () => change({ text: text.value })));

  const choice = (key: "suite" | "workload" | "tag", label: string, names: Iterable<string>) => {
    const sorted = [...new Set(names)].sort(byName.compare);
    const select = el(
      "select",
      { id: `by-${key}` },
      el("option", { value: "" }, "all"),
      ...sorted.map((name) => el("option", { value: name }, name)),
    );
    select.addEventListener("change", () => change({ [key]: select.value }));
    const element = el("label", {}, `${label} `, select);
    // A single value is not a choice, unless it is a tag, which not all cases have.
    element.hidden = sorted.length < (key === "tag" ? 1 : 2);
    return { key, select, element };
  };
  const choices = [
    choice("suite", "Suite", report.data.suites.map((suite) => suite.name)),
    choice("workload", "Workload", report.cases.map((of) => of.workload)),
    choice("tag", "Tag", report.cases.flatMap((of) => of.tags)),
  ];
  const reset = el("button", { type: "button" }, "Show all");
  reset.addEventListener("click", () => {
    const { text, verdicts, suite, workload, tag } = everything;
    change({ text, verdicts, suite, workload, tag });
  });
  return {
    element: el(
      "div",
      { class: "filter", role: "search" },
      el("label", { class: "search" }, "Filter ", text),
      ...choices.map(({ element }) => element),
      reset,
    ),
    show(selection) {
      if (document.activeElement !== text || selection.text === "") text.value = selection.text;
      for (const { key, select } of choices) select.value = selection[key];
      reset.hidden = !isFiltered(selection);
    },
    focus() {
      text.focus();
      text.select();
    },
  };
}
