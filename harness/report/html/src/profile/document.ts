// SPDX-License-Identifier: Apache-2.0
// The timelines as they are drawn, from the data that activity/page_data.cpp writes.
import type { KindData, Page, Process, TrackData } from "./data";

export type EventKind = KindData["kind"];
export type TrackKind = TrackData["kind"];

export interface Kind extends KindData {
  text: string;
}

/** Events of one row, by begin; times in nanoseconds from the first. */
export interface Row {
  begins: Float64Array;
  ends: Float64Array;
  kinds: Uint32Array;
  first: Float64Array;
  second: Float64Array;
  longest: number;
}

export interface Track {
  kind: TrackKind;
  group: string;
  label: string;
  recorded: number;
  rows: Row[];
}

const perEvent = 5;

function rowOf(data: readonly number[]): Row {
  const count = Math.floor(data.length / perEvent);
  const row: Row = {
    begins: new Float64Array(count),
    ends: new Float64Array(count),
    kinds: new Uint32Array(count),
    first: new Float64Array(count),
    second: new Float64Array(count),
    longest: 0,
  };
  let time = 0;
  for (let i = 0; i < count; ++i) {
    const [after = 0, length = 0, kind = 0, first = -1, second = -1] = data.slice(i * perEvent, (i + 1) * perEvent);
    time += after;
    row.begins[i] = time;
    row.ends[i] = time + length;
    row.kinds[i] = kind;
    row.first[i] = first;
    row.second[i] = second;
    row.longest = Math.max(row.longest, length);
  }
  return row;
}

/** Knows the texts of the page. */
export interface Profile extends Page {
  text(number: number): string;
  named: readonly Kind[];
  tracks(process: Process): Track[];
}

export function parseProfile(json: string): Profile {
  const data = JSON.parse(json) as Page;
  const text = (number: number) => data.texts[number] ?? "";
  return {
    ...data,
    text,
    named: data.kinds.map((kind) => ({ ...kind, text: text(kind.name) })),
    tracks: (process) => {
      const contexts = new Map<number, Set<number>>();
      for (const { kind, device = 0, context = 0 } of process.tracks) {
        if (kind === "device") contexts.set(device, (contexts.get(device) ?? new Set()).add(context));
      }
      return process.tracks.map(({ kind, device = 0, context = 0, stream = 0, thread = 0, recorded, rows }) => {
        const known = process.profile.devices.find((each) => each.device === device);
        const several = (contexts.get(device)?.size ?? 0) > 1;
        return {
          kind,
          group: kind === "device" ? `GPU ${device} ${known?.name ?? ""}`.trim() : `Thread ${thread}`,
          label: kind === "device" ? `stream ${stream}${several ? `, context ${context}` : ""}` : kind === "ranges" ? "NVTX ranges" : "CUDA calls",
          recorded,
          rows: rows.map(rowOf),
        };
      });
    },
  };
}
