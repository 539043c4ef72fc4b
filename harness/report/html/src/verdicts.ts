// SPDX-License-Identifier: Apache-2.0
// The appearance of a verdict: a sign, a word and a colour, so that none of them carries the meaning
// alone.
import type { Verdict } from "./data";
import { el } from "./dom";

const signs: Record<string, string> = {
  pass: "✓",
  improved: "▼",
  skipped: "–",
  acknowledged: "~",
  warned: "⚠",
  no_baseline: "○",
  inconclusive: "?",
  not_shown: "≈",
  other_work: "?",
  invalid: "!",
  not_collected: "…",
  error: "×",
  missing: "∅",
  incorrect: "≠",
  regressed: "▲",
};

export function signOf(verdict: string): string {
  return Object.hasOwn(signs, verdict) ? (signs[verdict] ?? "") : "";
}

/** The meaning of its colour: bad is what CI gets as a failure or an error. */
export function toneOf(verdict: Verdict): "bad" | "warn" | "good" | "calm" {
  if (verdict.outcome === "failure" || verdict.outcome === "error") return "bad";
  if (verdict.name === "improved") return "good";
  return verdict.name === "pass" || verdict.name === "skipped" ? "calm" : "warn";
}

export function wordOf(verdict: Verdict): string {
  return verdict.name.replaceAll("_", " ");
}

export function badge(verdict: Verdict, word = wordOf(verdict)): HTMLElement {
  return el(
    "span",
    { class: "badge", "data-tone": toneOf(verdict) },
    el("span", { class: "sign", "aria-hidden": "true" }, signOf(verdict.name)),
    word,
  );
}
