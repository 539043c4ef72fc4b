// SPDX-License-Identifier: Apache-2.0
// What the profile of a process says at once: figures, what is missing, what to look at first.
import { el, name } from "../dom";
import { quantityText } from "../quantity";
import type { Process } from "./data";
import { timeText } from "./draw";

function figure(value: string, label: string, detail: string): HTMLElement {
  return el("div", { class: "figure" }, el("dt", {}, label), el("dd", {}, el("strong", {}, value), detail !== "" && el("span", { class: "muted" }, detail)));
}

const percent = (part: number, whole: number) => (whole > 0 ? `${((part / whole) * 100).toFixed(1)} %` : "–");
const number = (value: number) => value.toLocaleString("en");

export function summary(process: Process, leftOut: readonly string[]): HTMLElement[] {
  const { program, devices, gaps, incomplete, calls } = process.profile;
  const hasCalls = calls.length > 0;
  const knowsSms = devices.every((device) => device.kernels === 0 || device.sms !== undefined);
  const busy = program.span_ns - program.idle_ns;
  const share = percent(busy, program.span_ns);
  const overlap = program.copies > 0 ? `, ${percent(program.overlapped_copy_ns, program.copy_time_ns)} beside kernels` : "";
  const underfilled = program.underfilled_time_ns ?? 0;
  const memory = devices.reduce((sum, device) => sum + device.peak_memory_bytes, 0);
  const parts: (HTMLElement | null)[] = [
    el(
      "dl",
      { class: "figures" },
      figure(share, "GPU busy", `${timeText(busy)} of ${timeText(program.span_ns)}`),
      figure(timeText(program.idle_ns), "GPU idle", gaps[0] ? `longest gap ${timeText(gaps[0].end_ns - gaps[0].begin_ns)}` : ""),
      knowsSms && program.kernel_time_ns > 0
        ? figure(percent(underfilled, program.kernel_time_ns), "Underfilled", "of kernel time: fewer blocks than half of the SMs")
        : el("div", { hidden: true }),
      figure(number(program.kernels), "Kernels", `${number(program.short_kernels)} under 10 µs`),
      figure(number(program.copies), "Copies", `${quantityText(program.copied_bytes, "bytes")}, ${number(program.pageable_copies)} pageable${overlap}`),
      program.graph_launches > 0 ? figure(number(program.graph_launches), "Graph launches", "") : el("div", { hidden: true }),
      figure(hasCalls ? number(program.synchronisations) : "–", "Synchronisations", hasCalls ? "" : "not recorded"),
      memory > 0 ? figure(quantityText(memory, "bytes"), "Memory at most", "") : el("div", { hidden: true }),
    ),
    incomplete.length > 0
      ? el(
          "div",
          { class: "incomplete", role: "note" },
          el("h2", {}, "The recording is not complete"),
          el("ul", {}, ...incomplete.map((reason) => el("li", {}, name(reason)))),
        )
      : null,
    process.advice.length > 0
      ? el("div", { class: "advice" }, el("h2", {}, "Look at first"), el("ol", {}, ...process.advice.map((sentence) => el("li", {}, name(sentence)))))
      : null,
  ];
  const notes = [...leftOut, ...(process.tracks_left_out ? [`${process.tracks_left_out} streams and threads with the fewest events are not drawn.`] : []), ...process.notes];
  if (notes.length > 0) parts.push(el("ul", { class: "notes muted" }, ...notes.map((note) => el("li", {}, name(note)))));
  return parts.filter((part) => part !== null);
}

export function titleOf(process: Process): string {
  const { pid = "?", rank = "" } = process.profile.recording;
  return `process ${pid}${rank === "" ? "" : `, rank ${rank}`}`;
}
