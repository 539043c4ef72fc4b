// SPDX-License-Identifier: Apache-2.0
// Where the rows of the tracks are, and which event is at a place.
import type { Row, Track, TrackKind } from "./document";
import type { View } from "./view";

export const heights: Record<TrackKind, number> = { device: 20, ranges: 18, calls: 15 };
const headHeight = 26;
const between = 6;

export interface PlacedRow {
  row: Row;
  track: Track;
  depth: number;
  top: number;
  height: number;
}

export interface Layout {
  rows: PlacedRow[];
  heads: { text: string; top: number }[];
  labels: { track: Track; top: number }[];
  height: number;
}

export function layoutOf(tracks: readonly Track[]): Layout {
  const layout: Layout = { rows: [], heads: [], labels: [], height: 0 };
  let group = "";
  for (const track of tracks) {
    if (track.group !== group) {
      group = track.group;
      layout.heads.push({ text: group, top: layout.height });
      layout.height += headHeight;
    }
    layout.labels.push({ track, top: layout.height });
    const height = heights[track.kind];
    track.rows.forEach((row, depth) => {
      layout.rows.push({ row, track, depth, top: layout.height, height });
      layout.height += height;
    });
    layout.height += between;
  }
  return layout;
}

/** The first event that can reach behind the time. */
export function firstFrom(row: Row, time: number): number {
  let low = 0;
  let high = row.begins.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((row.begins[middle] ?? 0) < time - row.longest) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** An event of the page. */
export interface Place {
  at: PlacedRow;
  index: number;
}

/** The event that is drawn at the time, or next to it by not more than `reach`; the one on top. */
export function eventAt(at: PlacedRow, time: number, reach: number): Place | null {
  let found = -1;
  let distance = Infinity;
  for (let i = firstFrom(at.row, time - reach); i < at.row.begins.length; ++i) {
    const begin = at.row.begins[i] ?? 0;
    if (begin > time + reach) break;
    const away = Math.max(begin - time, time - (at.row.ends[i] ?? 0), 0);
    if (away <= reach && away <= distance) {
      distance = away;
      found = i;
    }
  }
  return found < 0 ? null : { at, index: found };
}

export function rowAt(layout: Layout, y: number): PlacedRow | null {
  return layout.rows.find((row) => y >= row.top && y < row.top + row.height) ?? null;
}

/** The next event, by begin, whose kind is wanted, after a time or before it; around the end. */
export function nextMatch(layout: Layout, isWanted: (kind: number) => boolean, after: number, backwards: boolean): Place | null {
  let best: Place | null = null;
  let edge: Place | null = null; // the first of all, or the last
  const time = (place: Place) => place.at.row.begins[place.index] ?? 0;
  const nearer = (left: Place, right: Place | null) =>
    right === null || (backwards ? time(left) > time(right) : time(left) < time(right));
  for (const at of layout.rows) {
    for (let index = 0; index < at.row.begins.length; ++index) {
      if (!isWanted(at.row.kinds[index] ?? 0)) continue;
      const place = { at, index };
      if (nearer(place, edge)) edge = place;
      const isBehind = backwards ? time(place) < after : time(place) > after;
      if (isBehind && nearer(place, best)) best = place;
    }
  }
  return best ?? edge;
}

export function isVisible(place: Place, view: View): boolean {
  return (place.at.row.ends[place.index] ?? 0) > view.begin && (place.at.row.begins[place.index] ?? 0) < view.end;
}
