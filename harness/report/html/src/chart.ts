// SPDX-License-Identifier: Apache-2.0
// Shared by the charts: a chart in the page, with its description.
import { el } from "./dom";

/** For the style sheet's variables, which differ between light and dark. */
export const ink = {
  text: "var(--text)",
  muted: "var(--muted)",
  line: "var(--line)",
  before: "var(--before)",
  after: "var(--after)",
  bad: "var(--bad)",
};

/** A chart and its description in words, for readers who cannot see the chart. */
export function figure(title: string, chart: SVGElement | HTMLElement, words: string, hasHeading = true): HTMLElement {
  chart.setAttribute("role", "img");
  chart.setAttribute("aria-label", `${title}. ${words}`);
  for (const child of chart.children) child.setAttribute("aria-hidden", "true");
  return el("figure", {}, hasHeading && el("h3", {}, title), el("div", { class: "chart" }, chart), el("figcaption", {}, words));
}
