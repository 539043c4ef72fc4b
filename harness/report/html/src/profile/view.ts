// SPDX-License-Identifier: Apache-2.0
// The part of the time that is on the screen. Values, no drawing.

export interface View {
  begin: number;
  end: number;
}

/** Closer than this nothing is to be seen: times are whole nanoseconds. */
const shortest = 50;

/** In per mille of the time: a device that is less busy is mostly idle. */
const mostlyIdle = 250;

export function within(view: View, length: number): View {
  const span = Math.min(Math.max(view.end - view.begin, shortest), Math.max(length, shortest));
  const begin = Math.min(Math.max(view.begin, 0), Math.max(length, shortest) - span);
  return { begin, end: begin + span };
}

/** Closer by `factor`, with the time `at` staying where it is. */
export function zoomed(view: View, factor: number, at: number, length: number): View {
  const span = (view.end - view.begin) / factor;
  const share = (at - view.begin) / (view.end - view.begin);
  const begin = at - share * span;
  return within({ begin, end: begin + span }, length);
}

export function moved(view: View, by: number, length: number): View {
  return within({ begin: view.begin + by, end: view.end + by }, length);
}

/** An interval with as much again around it. */
export function around(begin: number, end: number, length: number): View {
  const margin = Math.max((end - begin) * 0.5, shortest / 2);
  return within({ begin: begin - margin, end: end + margin }, length);
}

/**
 * Where to begin: all of the time, or of a device that is mostly idle the part with the most work
 * between long gaps. `busy` has its shares in equal pieces of the time, in per mille.
 */
export function busiestPart(busy: readonly number[], length: number): View {
  const longGap = Math.ceil(busy.length / 50);
  const parts: { first: number; end: number; work: number }[] = [];
  busy.forEach((share, piece) => {
    if (share === 0) return;
    const part = parts.at(-1);
    if (part && piece - part.end < longGap) {
      part.end = piece + 1;
      part.work += share;
    } else {
      parts.push({ first: piece, end: piece + 1, work: share });
    }
  });
  const most = parts.sort((left, right) => right.work - left.work)[0];
  const work = parts.reduce((sum, part) => sum + part.work, 0);
  if (!most || work > mostlyIdle * busy.length) return { begin: 0, end: length };
  const margin = (most.end - most.first) * 0.05;
  const piece = length / busy.length;
  return within({ begin: (most.first - margin) * piece, end: (most.end + margin) * piece }, length);
}

/** Round times, about `count` of them in the view. */
export function ticks(view: View, count: number): { times: number[]; step: number } {
  const rough = (view.end - view.begin) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const times: number[] = [];
  for (let time = Math.ceil(view.begin / step) * step; time <= view.end; time += step) times.push(time);
  return { times, step };
}
