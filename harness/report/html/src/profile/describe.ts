// SPDX-License-Identifier: Apache-2.0
// An event in words: what the tooltip and the line below the timeline say.
import type { Profile } from "./document";
import { el, facts as factList, name } from "../dom";
import { quantityText } from "../quantity";
import { timeText } from "./draw";
import type { Place } from "./layout";

export interface Description {
  title: string;
  facts: [label: string, value: string][];
}

const none = -1;

export function describe(profile: Profile, place: Place): Description {
  const { row, track } = place.at;
  const { index } = place;
  const kind = profile.named[row.kinds[index] ?? 0];
  const begin = row.begins[index] ?? 0;
  const length = (row.ends[index] ?? 0) - begin;
  const first = row.first[index] ?? none;
  const second = row.second[index] ?? none;
  const facts: Description["facts"] = [
    ["takes", timeText(length)],
    ["begins at", timeText(begin)],
  ];
  const add = (label: string, value: string) => facts.push([label, value]);
  const inRange = () => {
    if (second !== none) add("in range", profile.text(second));
  };
  let title = kind?.text ?? "";
  if (kind?.merged) {
    add("busy", timeText(second));
    add("the longest", title);
    add("on", `${track.group}, ${track.label}`);
    return { title: `${first.toLocaleString("en")} shorter events in one block`, facts };
  }
  switch (kind?.kind) {
    case "kernel":
      if (first !== none) add("launched", `${timeText(first)} before`);
      add("grid", kind.grid ?? "");
      add("block", kind.block ?? "");
      add("registers", String(kind.registers ?? 0));
      add("shared memory", quantityText(kind.shared_bytes ?? 0, "bytes"));
      inRange();
      break;
    case "copy":
      title = `copy ${title}`;
      add("size", quantityText(first, "bytes"));
      if (length > 0) add("rate", quantityText((first / length) * 1e9, "bytes/s"));
      add("memory", `${kind.from ?? ""} to ${kind.to ?? ""}`);
      inRange();
      break;
    case "memset":
      add("size", quantityText(first, "bytes"));
      inRange();
      break;
    case "range":
      if (first !== none) {
        add("GPU time", timeText(first));
        add("kernels", String(second));
      }
      break;
    case "call":
    case "wait":
      if (first > 0) add("returned error", String(first));
      inRange();
      break;
  }
  add("on", `${track.group}, ${track.label}`);
  return { title, facts };
}

export function elementOf({ title, facts }: Description): HTMLElement[] {
  return [
    el("p", { class: "event" }, name(title)),
    factList(facts, { class: "event-facts" }),
  ];
}
