// SPDX-License-Identifier: Apache-2.0
// The first page: what changed lately, worst first, per device; all cases; the gate's record.
import { debounced, el, name } from "../dom";
import type { Point } from "./data";
import { dayOf, revisionOf, type Finding, type History } from "./document";

const fewPoints = 5;
const mostFound = 50;
const day_ms = 86_400_000;

export const caseLink = (history: History, number: number) => {
  const of = history.cases[number]!;
  return el("a", { href: `#${of.file}`, class: "id" }, name(of.id));
};

function pointRow(history: History, point: Point): HTMLElement {
  const metric = history.metrics[point.metric]!;
  return el(
    "li",
    {},
    el("span", { class: "where" }, caseLink(history, point.of_case), " ", name(metric.name, { class: "muted" })),
    el("span", { class: "number" }, `${point.from} → ${point.to}`),
    el("span", { class: "number", "data-tone": metric.direction === "none" ? "calm" : point.worse ? "bad" : "good" }, point.moved),
    (point.accepted || !point.open) && el("span", { class: "muted" }, point.accepted ? "accepted" : "changed again"),
  );
}

function findingPart(history: History, finding: Finding): HTMLElement {
  const worse = finding.points.some((point) => point.worse);
  const directed = finding.points.some((point) => history.metrics[point.metric]!.direction !== "none");
  const tone = worse ? "bad" : directed ? "good" : "calm";
  const list = (points: readonly Point[]) => el("ul", { class: "points" }, ...points.map((point) => pointRow(history, point)));
  const rest = finding.points.slice(fewPoints);
  return el(
    "li",
    { class: "finding", "data-tone": tone },
    el(
      "p",
      { class: "what" },
      el("span", { class: "badge", "data-tone": tone }, worse ? "worse" : directed ? "better" : "changed"),
      el("span", { class: "badge" }, finding.cause),
      el("span", {}, dayOf(finding.run.started)),
      name(revisionOf(finding.run), { class: "id" }),
      finding.points.length > 1 && el("span", {}, `${finding.points.length} series changed together`),
    ),
    el("p", { class: "lines" }, name(finding.evidence)),
    list(finding.points.slice(0, fewPoints)),
    rest.length > 0 && el("details", {}, el("summary", {}, `${rest.length} more`), list(rest)),
  );
}

/** Of one device, worst first: what is open before what changed again or is accepted. */
function devicePart(history: History, device: string, since: number): HTMLElement {
  const runs = history.runs.filter((run) => history.text(run.device) === device);
  const lately = history.findings.filter((finding) => finding.device === device && Date.parse(finding.run.started) >= since);
  const settled = (finding: Finding) => finding.points.every((point) => point.accepted || !point.open);
  const sorted = [...lately.filter((finding) => !settled(finding)), ...lately.filter(settled)];
  return el(
    "section",
    { class: "device" },
    el("h2", {}, name(device), " ", el("span", { class: "muted" }, `${runs.length} ${runs.length === 1 ? "run" : "runs"}, the last of ${dayOf(runs.map((run) => run.started).sort().at(-1) ?? "")}`)),
    sorted.length === 0 ? el("p", { class: "muted" }, "Nothing changed.") : el("ul", { class: "findings" }, ...sorted.map((finding) => findingPart(history, finding))),
  );
}

function casesPart(history: History, words: string): HTMLElement {
  const search = el("input", { type: "search", id: "filter", placeholder: "case or suite …", autocomplete: "off", spellcheck: "false", value: words });
  const list = el("ul", { class: "cases" });
  const count = el("p", { role: "status", class: "muted" });
  const names = history.cases.map((of) => `${history.text(of.suite)} ${of.id}`.toLowerCase());
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const found = names.flatMap((text, i) => (words.every((word) => text.includes(word)) ? [i] : []));
    count.textContent = `${found.length} of ${names.length} cases${found.length > mostFound ? `, the first ${mostFound} are listed` : ""}`;
    list.replaceChildren(...found.slice(0, mostFound).map((i) => el("li", {}, name(history.text(history.cases[i]!.suite), { class: "muted" }), " ", caseLink(history, i))));
  };
  search.addEventListener("input", debounced(80, show));
  show();
  return el("section", {}, el("h2", {}, "All cases"), el("div", { class: "filter", role: "search" }, el("label", { class: "search" }, "Find ", search)), count, list);
}

function recordPart(history: History): HTMLElement | false {
  if (history.months.length === 0) return false;
  const heads = ["Month", "Verdicts", "Alarms", "False", "Acknowledged", "Accepted", "Measured again"];
  const number = (value: number | null | undefined) => el("td", { class: "number" }, value === null || value === undefined ? "?" : value.toLocaleString("en"));
  return el(
    "section",
    {},
    el("h2", {}, "The gate's record"),
    el("p", { class: "muted" }, "An alarm is false if the code is not known to have changed and no change lies within three nights of it. Only runs that were added with their verdicts count."),
    el(
      "div",
      { class: "wide", tabindex: "0", role: "group", "aria-label": "The gate's record" },
      el(
        "table",
        {},
        el("thead", {}, el("tr", {}, ...heads.map((head, i) => el("th", { scope: "col", class: i === 0 ? null : "number" }, head)))),
        el(
          "tbody",
          {},
          ...history.months.map((month) =>
            el(
              "tr",
              {},
              el("th", { scope: "row" }, month.month),
              ...[month.judged, month.alarms, month.false_alarms, month.acknowledged, month.accepted, month.reran].map(number),
            ),
          ),
        ),
      ),
    ),
  );
}

/** `words`: what cases are searched for. */
export function front(history: History, words: string): HTMLElement {
  const newest = Math.max(...history.runs.map((run) => Date.parse(run.started)).filter((time) => !Number.isNaN(time)));
  const choice = el(
    "select",
    { id: "days" },
    ...[history.lately_days, 90, 365, Infinity].map((days) => el("option", { value: days }, days === Infinity ? "the whole history" : `the last ${days} days`)),
  );
  const devices = [...new Set(history.runs.map((run) => history.text(run.device)))].sort();
  const body = el("div", { class: "body" });
  const show = () => body.replaceChildren(...devices.map((device) => devicePart(history, device, newest - Number(choice.value) * day_ms)));
  choice.addEventListener("change", show);
  show();
  return el(
    "div",
    { class: "front", "data-ready": "" },
    el("h1", { tabindex: "-1" }, "What changed lately"),
    el("p", { class: "filter" }, el("label", {}, "Shown: ", choice)),
    history.runs.length === 0 ? el("p", { class: "muted" }, "This history has no runs: perfgate history add adds them.") : body,
    casesPart(history, words),
    recordPart(history),
  );
}
