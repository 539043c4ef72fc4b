// SPDX-License-Identifier: Apache-2.0
// Values with their unit, in the words of model/quantity.cpp, so that the page and the console
// agree; the browser test compares them.

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

/** Whether the decimal text of a number has exactly a 5 after its first `digits` digits. */
function isTie(value: number, digits: number): boolean {
  const exact = value.toExponential(60).replace(/e.*/, "").replace(/[-.]/g, "");
  return /^50*$/.test(exact.slice(digits));
}

/** Ties go to the even neighbour, as in C; JavaScript rounds them away from 0. */
function rounded(value: number, digits: number, text: (value: number) => string): string {
  const up = text(value);
  const lastDigit = Number(up.replace(/e.*/, "").at(-1));
  return lastDigit % 2 === 1 && isTie(value, digits) ? text(value * (1 - 1e-12)) : up;
}

function exponential(value: number, digits: number): string {
  return rounded(value, digits, (number) => number.toExponential(digits - 1));
}

function fixed(value: number, decimals: number): string {
  const exponent = Number(value.toExponential().split("e")[1]);
  return rounded(value, exponent + 1 + decimals, (number) => number.toFixed(decimals));
}

/** printf's %g, or %#g, which keeps zeros at the end. */
function general(value: number, digits: number, keepsZeros = false): string {
  if (value === 0 && !keepsZeros) return "0";
  const [mantissa = "", exponentText = "0"] = exponential(value, digits).split("e");
  const exponent = Number(exponentText);
  const withoutZeros = (text: string) => (text.includes(".") && !keepsZeros ? text.replace(/\.?0+$/, "") : text);
  if (exponent < -4 || exponent >= digits) {
    const sign = exponent < 0 ? "-" : "+";
    return `${withoutZeros(mantissa)}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  return withoutZeros(fixed(value, Math.max(0, digits - 1 - exponent)));
}

/** The shortest text that reads back as the same number, like util/text.hpp's number_text. */
function numberText(value: number): string {
  const [mantissa = "", exponentText = "0"] = value.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 16) return String(value + 0);
  return `${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

function fourDigits(value: number): string {
  const size = Math.abs(value);
  if (size < 0.99995 || size >= 1e15) return general(value, 4);
  if (size < 9.9995) return fixed(value, 3);
  if (size < 99.995) return fixed(value, 2);
  if (size < 999.95) return fixed(value, 1);
  return fixed(value, 0);
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
  if (!steps) return (whole && unit !== "%" ? numberText(value) : fourDigits(value)) + plainSuffix(unit);
  const step = stepFor(value, steps);
  const everyDigit = value === 0 || (whole && step[0] === 1 && unit === "bytes");
  return `${everyDigit ? numberText(value) : fourDigits(value / step[0])} ${step[1]}`;
}

/** Enough digits to distinguish the two, if necessary all. */
function toldApart(before: number, after: number, unit: string): [string, string] {
  const steps = Object.hasOwn(scales, unit) ? scales[unit] : undefined;
  const [size, suffix] = steps ? stepFor(after, steps) : [1, ""];
  const ending = steps ? ` ${suffix}` : plainSuffix(unit);
  for (const digits of [5, 6]) {
    const [left, right] = [before, after].map((value) => general(value / size, digits, true) + ending) as [string, string];
    if (left !== right) return [left, right];
  }
  return [numberText(before) + plainSuffix(unit), numberText(after) + plainSuffix(unit)];
}

/** Both values for comparison: with more digits if rounding would make them look the same. */
export function quantityTexts(before: number, after: number, unit: string): [string, string] {
  const texts: [string, string] = [quantityText(before, unit), quantityText(after, unit)];
  return before === after || texts[0] !== texts[1] ? texts : toldApart(before, after, unit);
}

export function changeText(fraction: number): string {
  const percent = fraction * 100;
  const size = Math.abs(percent);
  if (size === 0) return "0.0 %";
  const text = size < 0.05 || size >= 1e6 ? general(percent, 1) : fixed(percent, 1);
  return `${percent > 0 ? "+" : ""}${text} %`;
}

/** How a value moved: of shares in points. */
export function movedText(before: number | null, after: number | null, unit: string): string {
  if (before === null || after === null) return "";
  if (unit === "%") {
    const points = after - before;
    if (points === 0) return "0.0 points";
    const text = Math.abs(points) < 0.05 ? general(points, 1) : fixed(points, 1);
    return `${points > 0 ? "+" : ""}${text} points`;
  }
  const change = (after - before) / Math.abs(before);
  return before === 0 || !Number.isFinite(change) ? "" : changeText(change);
}

/** One scale for an axis: what to divide by, and the unit to name. */
export function scaleFor(largest: number, unit: string): { size: number; name: string } {
  const steps = Object.hasOwn(scales, unit) ? scales[unit] : undefined;
  if (!steps) return { size: 1, name: unit };
  const step = stepFor(largest, steps);
  return { size: step[0], name: step[1] };
}
