// SPDX-License-Identifier: Apache-2.0
// One case: a chart for each metric and device, and what happened.
import { el, name } from "../dom";
import { dayOf, loadCase, revisionOf, runOf, type History, type Series } from "./document";
import { eventsOf, nightChart } from "./night_chart";

const signs = { worse: "▲", better: "▼", changed: "◇", accepted: "✓", machine: "◆" } as const;
const tones = { worse: "bad", better: "good", changed: "calm", accepted: "calm", machine: "calm" } as const;
const kinds = { worse: "worse", better: "better", changed: "changed", accepted: "ledger", machine: "machine" } as const;

function seriesPart(history: History, series: Series, most: number): HTMLElement {
  const from = Math.max(0, series.nights.length - most);
  const events = eventsOf(history, series, from);
  const place = el("div", { class: "place" });
  // Drawn where it is seen: a case may have many metrics.
  const draw = () => {
    const width = Math.max(280, place.clientWidth);
    place.replaceChildren(nightChart(history, series, events, from, width));
  };
  new IntersectionObserver((seen, observer) => {
    if (!seen.some((each) => each.isIntersecting)) return;
    observer.disconnect();
    draw();
    new ResizeObserver(draw).observe(place);
  }).observe(place);
  const shown = series.nights.slice(from);
  const list = events.map((event) => {
    const run = runOf(history, shown[Math.min(event.night, shown.length - 1)]!);
    const when = event.night < shown.length ? `${dayOf(run.started)} ${revisionOf(run)}` : "after the last night";
    return el(
      "li",
      {},
      el("span", { class: "badge", "data-tone": tones[event.kind] }, el("span", { "aria-hidden": "true" }, signs[event.kind]), kinds[event.kind]),
      name(when, { class: "id" }),
      name(event.words),
    );
  });
  return el("section", { class: "series" }, el("h3", {}, name(series.metric.name)), place, list.length > 0 && el("ul", { class: "events" }, ...list));
}

export function casePage(history: History, number: number): HTMLElement {
  const of = history.cases[number]!;
  const choice = el("select", { id: "nights" }, ...[60, 365, Infinity].map((most) => el("option", { value: most }, most === Infinity ? "all" : `the last ${most}`)));
  choice.value = "Infinity";
  const body = el("div", { class: "body", "aria-live": "polite" }, el("p", { class: "muted" }, "Loading …"));
  const page = el(
    "div",
    { class: "case" },
    el("p", {}, el("a", { href: "#" }, "What changed lately")),
    el("h1", { class: "id", tabindex: "-1" }, name(of.id)),
    el("dl", { class: "facts" }, el("div", {}, el("dt", {}, "Suite"), el("dd", {}, name(history.text(of.suite))))),
    el("p", { class: "filter" }, el("label", {}, "Nights ", choice)),
    body,
  );
  loadCase(history, number).then(
    (all) => {
      // Gated metrics first, as the run's own order is that of names.
      const sorted = [...all].sort((left, right) => Number(right.tolerance > 0) - Number(left.tolerance > 0));
      const devices = [...new Set(sorted.map((series) => series.device))];
      const show = () =>
        body.replaceChildren(
          ...devices.map((device) =>
            el(
              "section",
              { class: "device" },
              el("h2", {}, name(device)),
              ...sorted.filter((series) => series.device === device).map((series) => seriesPart(history, series, Number(choice.value))),
            ),
          ),
        );
      choice.addEventListener("change", show);
      show();
      page.dataset["ready"] = "";
    },
    (error: Error) => {
      body.replaceChildren(el("p", { role: "alert" }, error.message));
      page.dataset["ready"] = "";
    },
  );
  return page;
}
