// SPDX-License-Identifier: Apache-2.0
// Values with their unit, of charts, kernels and profiles. What was compared has its texts in the
// data, from model/quantity.cpp.

type Step = readonly [size: number, suffix: string];

const kibi = 1024;
const scales: Record<string, readonly Step[]> = {
  ns: [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]],
  bytes: [[1, "B"], [kibi, "KiB"], [kibi ** 2, "MiB"], [kibi ** 3, "GiB"], [kibi ** 4, "TiB"]],
  "bytes/s": [[1, "B/s"], [1e3, "kB/s"], [1e6, "MB/s"], [1e9, "GB/s"], [1e12, "TB/s"]],
  Hz: [[1, "Hz"], [1e3, "kHz"], [1e6, "MHz"], [1e9, "GHz"]],
  flop: [[1, "flop"], [1e3, "kflop"], [1e6, "Mflop"], [1e9, "Gflop"], [1e12, "Tflop"]],
  "flop/s": [[1, "flop/s"], [1e3, "kflop/s"], [1e6, "Mflop/s"], [1e9, "Gflop/s"], [1e12, "Tflop/s"]],
  J: [[1e-9, "nJ"], [1e-6, "µJ"], [1e-3, "mJ"], [1, "J"], [1e3, "kJ"]],
  "flop/J": [[1, "flop/J"], [1e3, "kflop/J"], [1e6, "Mflop/J"], [1e9, "Gflop/J"], [1e12, "Tflop/J"]],
  "bytes/J": [[1, "B/J"], [1e3, "kB/J"], [1e6, "MB/J"], [1e9, "GB/J"], [1e12, "TB/J"]],
};

function fourDigits(value: number): string {
  const size = Math.abs(value);
  if (size >= 999.95) return value.toFixed(0);
  return size < 0.99995 ? String(Number(value.toPrecision(4))) : value.toPrecision(4);
}

/** "97,460,236"; four digits are read without. */
function allDigits(value: number): string {
  return Math.abs(value) < 1e4 || Math.abs(value) >= 1e16 ? String(value) : value.toLocaleString("en-US");
}

function plainSuffix(unit: string): string {
  if (["", "ratio", "count", "registers"].includes(unit)) return "";
  return ` ${unit === "bytes" ? "B" : unit}`;
}

/** The largest step that leaves a number of at least 1 after rounding. */
function stepFor(value: number, steps: readonly Step[]): Step {
  let chosen: Step = steps[0] ?? [1, ""];
  for (const step of steps) if (Math.abs(value) >= step[0] * 0.99995) chosen = step;
  return chosen;
}

export function quantityText(value: number, unit: string): string {
  const steps = Object.hasOwn(scales, unit) ? scales[unit] : undefined;
  const whole = Number.isInteger(value);
  if (!steps) return (whole && unit !== "%" ? allDigits(value) : fourDigits(value)) + plainSuffix(unit);
  const step = stepFor(value, steps);
  const everyDigit = value === 0 || (whole && step[0] === 1 && unit === "bytes");
  return `${everyDigit ? String(value) : fourDigits(value / step[0])} ${step[1]}`;
}

/** One scale for an axis: what to divide by, and the unit to name. */
export function scaleFor(largest: number, unit: string): { size: number; name: string } {
  const steps = Object.hasOwn(scales, unit) ? scales[unit] : undefined;
  if (!steps) return { size: 1, name: unit };
  const step = stepFor(largest, steps);
  return { size: step[0], name: step[1] };
}
