// SPDX-License-Identifier: Apache-2.0
// Reads the data and puts the parts of the page of `perfgate profile` together.
import "../base.css";
import "./profile.css";
import { debounced, el, name } from "../dom";
import { themeSwitch } from "../theme";
import type { Process } from "./data";
import { parseProfile, type Profile } from "./document";
import { FlameGraph } from "./flame";
import { summary, titleOf } from "./summary";
import { Tables, tablesOf } from "./tables";
import { Timeline } from "./timeline";

function start(profile: Profile): void {
  const timeline = new Timeline(profile);
  const tables = new Tables({
    find: (text) => {
      search.value = search.value === text ? "" : text;
      find();
      if (search.value !== "") timeline.element.scrollIntoView({ block: "nearest" });
    },
    zoomTo: (begin, end) => timeline.zoomTo(begin, end),
    rankOf: (kernel) => timeline.rankOf(kernel),
  });
  const flame = new FlameGraph();
  const head = el("div", { class: "summary" });
  const command = name("", { class: "command" });
  const found = el("p", { role: "status", class: "count" });
  const search = el("input", {
    type: "search",
    id: "filter",
    placeholder: "kernel, range, call …",
    autocomplete: "off",
    spellcheck: "false",
    "aria-keyshortcuts": "/",
    "aria-describedby": "timeline-keys",
  });
  const previous = el("button", { type: "button", "aria-label": "Previous event", title: "Previous event", click: () => timeline.step(true) }, "‹");
  const next = el("button", { type: "button", "aria-label": "Next event", title: "Next event", click: () => timeline.step(false) }, "›");

  function find(): void {
    const words = search.value.trim().toLowerCase();
    const matches = words === "" ? null : new Set(profile.named.flatMap((kind, i) => (kind.text.toLowerCase().includes(words) ? [i] : [])));
    timeline.mark(matches);
    tables.filter(words);
    const count = timeline.marked();
    previous.disabled = next.disabled = count === 0;
    found.textContent = words === "" ? "" : `${count.toLocaleString("en")} ${profile.left_out.length > 0 ? "events or blocks" : count === 1 ? "event" : "events"}`;
  }
  search.addEventListener("input", debounced(100, find));
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") timeline.step(event.shiftKey);
    if (event.key === "Escape") {
      search.value = "";
      find();
    }
  });

  function open(process: Process): void {
    command.textContent = process.profile.recording["command"] ?? "";
    head.replaceChildren(...summary(process, profile.left_out));
    timeline.open(process);
    flame.open(process.flame ?? []);
    tables.open(tablesOf(process, (kernel) => timeline.rankOf(kernel)));
    find();
    document.title = `${titleOf(process)}: ${process.profile.recording["command"] ?? ""} – perfgate profile`;
  }

  const choice = el(
    "select",
    { id: "process" },
    ...profile.processes.map((process, i) => el("option", { value: i }, `${titleOf(process)}: ${process.profile.recording["command"] ?? ""}`.slice(0, 120))),
  );
  choice.addEventListener("change", () => {
    const process = profile.processes[Number(choice.value)];
    if (process) open(process);
  });
  const several = el("label", { class: "process" }, "Process ", choice);
  several.hidden = profile.processes.length < 2;

  const header = el("header", {}, el("span", { class: "brand" }, "perfgate profile"), command, several, themeSwitch());
  const main = el(
    "main",
    {},
    el("h1", { class: "hidden" }, "Profile"),
    head,
    el(
      "section",
      { "aria-labelledby": "timeline-title", class: "drawing" },
      el(
        "div",
        { class: "filter", role: "search" },
        el("h2", { id: "timeline-title" }, "Timeline"),
        el("label", { class: "search" }, "Find ", search),
        found,
        el("div", { class: "steps", role: "group", "aria-label": "Found events" }, previous, next),
      ),
      timeline.element,
    ),
    flame.element,
    tables.element,
  );
  document.body.append(header, el("div", { class: "page" }, main));

  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.key !== "/") return;
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return;
    search.focus();
    search.select();
    event.preventDefault();
  });
  new MutationObserver(() => timeline.recolour()).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  window.matchMedia("print").addEventListener("change", () => timeline.recolour());
  const [first] = profile.processes;
  if (first) open(first);
}

const data = document.getElementById("data")?.textContent ?? "";
if (data.trim().startsWith("{")) {
  start(parseProfile(data));
} else {
  document.body.append(el("p", {}, "This page has no data: perfgate profile writes it with --report html:FILE."));
}
