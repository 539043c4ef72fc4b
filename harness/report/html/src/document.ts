// SPDX-License-Identifier: Apache-2.0
// The data that html.cpp writes into the page, and how the page reads it. Both come from the same
// build, so the shape has no version.

export interface Verdict {
  name: string;
  severity: number; // higher is worse
  outcome: "pass" | "skipped" | "failure" | "error"; // according to the run's policy
}

export interface Metric {
  name: string;
  unit: string;
  description?: string;
  better?: "lower" | "higher" | "none";
  class?: "exact" | "counter" | "timing";
}

export interface Relation {
  verdict: number;
  word: string;
  name: string;
  place?: string;
  sentence: string;
}

export interface Suite {
  name: string;
  file: string;
  counts: string;
  baseline?: string;
  relations_in_words?: string;
  notes?: string[];
  relations?: Relation[];
}

/** A number, or "" if there is none. */
type Maybe = number | "";

/** process, round, samples taken, why it is excluded (text, -1: it is used), SM clock in MHz, samples shown */
type RawBatch = [number, number, number, number, Maybe, Maybe[]];

interface RawCase {
  suite: number;
  id: string;
  workload: number; // text
  verdict: number;
  place?: string;
  reasons?: string[];
  why?: string[];
  notes?: string[];
  log?: string;
  code?: string;
  roof?: string;
  wall_s: number;
  tags?: number[]; // texts
  not_applicable?: number[]; // texts
  verified?: string;
  work?: [Maybe, Maybe, string]; // flops, bytes, arithmetic
  // launches and their time, if the case is a program's
  kernels?: [number, string, string, number, number, number, Maybe, Maybe?, Maybe?][];
  first?: string; // the first reason, in brief
  shown?: number; // the metric of its row: what decides its verdict, or its time
  values?: Maybe[]; // metric, before, after, verdict or -1, tolerance (text) or -1; and so on
  intervals?: (number | string)[]; // metric, interval of its change; and so on
  sentences?: (number | string)[]; // metric, sentence; and so on
  spreads?: [number, number, Maybe[], Maybe[], RawBatch[]][];
  limits?: Maybe[]; // of gated times: metric, least and most that its tolerance allows; and so on
}

interface RawDocument {
  summary?: string;
  groups?: [string, number, string][]; // the reasons, worst first: effect, number of cases, sentence
  more_groups?: number; // that are not listed
  counts: string;
  exit_code: number;
  interrupted?: boolean;
  verify_only?: boolean;
  facts: [string, string][];
  ceilings: { copy_bytes_per_s?: number; matrix_flops_per_s: [string, number][] };
  verdicts: Verdict[];
  suites: Suite[];
  cases: RawCase[];
  texts: string[];
  metrics: Metric[];
}

export interface Value {
  metric: Metric;
  before: number | null;
  after: number | null;
  change: number | null; // fraction of before
  verdict: Verdict | null; // null: not judged
  tolerance: string;
  interval: string; // of the change, in words; empty for what has none
  sentence: string; // empty for what passes or is not judged
}

export interface Batch {
  process: number;
  round: number;
  count: number; // samples taken
  excluded: string;
  smClockMhz: number | null;
  samples: number[]; // those shown
}

export interface Spread {
  metric: Metric;
  method: string;
  baseline: number[]; // one value per batch, as judged
  measured: number[];
  batches: Batch[]; // of this run
  allowed: [number, number] | null; // the values that the tolerance allows
}

export interface Kernel {
  name: string;
  grid: string;
  block: string;
  registers: number;
  sharedBytes: number;
  localBytes: number;
  occupancy: number | null;
  launches: number | null; // of a program's case: mean over its instances
  timeNs: number | null;
}

/** A case as in the table; its details are created when it is opened. */
export interface Case {
  index: number;
  suite: Suite;
  id: string;
  key: string; // suite and id, as used in links
  workload: string;
  verdict: Verdict;
  tags: string[];
  reason: string; // the first
  shown: Value | null; // the metric that decides its verdict, or its time
  searched: string; // lower case
}

export interface Details {
  place: string;
  reasons: string[];
  why: string[];
  notes: string[];
  log: string;
  code: string;
  roof: string;
  wallSeconds: number;
  verified: string;
  notApplicable: string[];
  work: { flops: number; bytes: number; arithmetic: string } | null;
  kernels: Kernel[];
  values: Value[];
  spreads: Spread[];
}

export interface Report {
  summary: string;
  groups: [string, number, string][];
  moreGroups: number;
  counts: string;
  exitCode: number;
  verifyOnly: boolean;
  facts: [string, string][];
  copyBytesPerSecond: number; // 0: not measured
  matrixFlopsPerSecond: [string, number][];
  verdicts: Verdict[];
  suites: Suite[];
  cases: Case[];
  details(of: Case): Details;
}

const valueFields = 5;

function number(value: Maybe | undefined): number | null {
  return typeof value === "number" ? value : null;
}

function numbers(values: Maybe[]): number[] {
  return values.filter((value): value is number => typeof value === "number");
}

/** (after - before) / |before| */
export function changeOf(before: number | null, after: number | null): number | null {
  if (before === null || after === null || before === 0) return null;
  const change = (after - before) / Math.abs(before);
  return Number.isFinite(change) ? change : null;
}

function at<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new Error(`the data has no entry ${index}`);
  return found;
}

function valueAt(data: RawDocument, values: Maybe[], start: number): Value {
  const before = number(values[start + 1]);
  const after = number(values[start + 2]);
  const verdict = number(values[start + 3]) ?? -1;
  const tolerance = number(values[start + 4]) ?? -1;
  return {
    metric: at(data.metrics, number(values[start]) ?? -1),
    before,
    after,
    change: changeOf(before, after),
    verdict: verdict < 0 ? null : at(data.verdicts, verdict),
    tolerance: tolerance < 0 ? "" : at(data.texts, tolerance),
    interval: "",
    sentence: "",
  };
}

function shownOf(data: RawDocument, raw: RawCase): Value | null {
  const values = raw.values ?? [];
  for (let i = 0; raw.shown !== undefined && i < values.length; i += valueFields) {
    if (values[i] === raw.shown) return valueAt(data, values, i);
  }
  return null;
}

/** A list of metric, text; and so on. */
function byMetric(list: (number | string)[] = []): Map<number, string> {
  const texts = new Map<number, string>();
  for (let i = 0; i + 1 < list.length; i += 2) texts.set(Number(list[i]), String(list[i + 1]));
  return texts;
}

function detailsOf(data: RawDocument, raw: RawCase): Details {
  const text = (index: number) => at(data.texts, index);
  const sentences = byMetric(raw.sentences);
  const intervals = byMetric(raw.intervals);
  const limits = new Map<number, [number, number]>();
  for (let i = 0; i + 2 < (raw.limits?.length ?? 0); i += 3) {
    const [least, most] = [number(raw.limits?.[i + 1]), number(raw.limits?.[i + 2])];
    if (least !== null && most !== null) limits.set(Number(raw.limits?.[i]), [least, most]);
  }
  const values: Value[] = [];
  for (let i = 0; i < (raw.values?.length ?? 0); i += valueFields) {
    const value = valueAt(data, raw.values ?? [], i);
    value.sentence = sentences.get(Number(raw.values?.[i])) ?? "";
    value.interval = intervals.get(Number(raw.values?.[i])) ?? "";
    values.push(value);
  }
  return {
    place: raw.place ?? "",
    reasons: raw.reasons ?? [],
    why: raw.why ?? [],
    notes: raw.notes ?? [],
    log: raw.log ?? "",
    code: raw.code ?? "",
    roof: raw.roof ?? "",
    wallSeconds: raw.wall_s,
    verified: raw.verified ?? "",
    notApplicable: (raw.not_applicable ?? []).map(text),
    work: raw.work
      ? { flops: number(raw.work[0]) ?? 0, bytes: number(raw.work[1]) ?? 0, arithmetic: raw.work[2] }
      : null,
    kernels: (raw.kernels ?? []).map(([name, grid, block, registers, sharedBytes, localBytes, occupancy, launches, time]) => ({
      name: text(name),
      grid,
      block,
      registers,
      sharedBytes,
      localBytes,
      occupancy: number(occupancy),
      launches: number(launches),
      timeNs: number(time),
    })),
    values,
    spreads: (raw.spreads ?? []).map(([metric, method, baseline, measured, batches]) => ({
      metric: at(data.metrics, metric),
      method: method < 0 ? "" : text(method),
      baseline: numbers(baseline),
      measured: numbers(measured),
      allowed: limits.get(metric) ?? null,
      batches: batches.map(([process, round, count, excluded, clock, samples]) => ({
        process,
        round,
        count,
        excluded: excluded < 0 ? "" : text(excluded),
        smClockMhz: number(clock),
        samples: numbers(samples),
      })),
    })),
  };
}

export function parseReport(json: string): Report {
  const data = JSON.parse(json) as RawDocument;
  const cases = data.cases.map((raw, index): Case => {
    const suite = at(data.suites, raw.suite);
    const workload = at(data.texts, raw.workload);
    const tags = (raw.tags ?? []).map((tag) => at(data.texts, tag));
    const reason = raw.first ?? raw.reasons?.[0] ?? "";
    return {
      index,
      suite,
      id: raw.id,
      key: `${suite.name}/${raw.id}`,
      workload,
      verdict: at(data.verdicts, raw.verdict),
      tags,
      reason,
      shown: shownOf(data, raw),
      searched: [suite.name, raw.id, ...tags, raw.first ?? "", ...(raw.reasons ?? []), ...(raw.why ?? [])].join("\n").toLowerCase(),
    };
  });
  return {
    summary: data.summary ?? "",
    groups: data.groups ?? [],
    moreGroups: data.more_groups ?? 0,
    counts: data.counts,
    exitCode: data.exit_code,
    verifyOnly: data.verify_only ?? false,
    facts: data.facts,
    copyBytesPerSecond: data.ceilings.copy_bytes_per_s ?? 0,
    matrixFlopsPerSecond: data.ceilings.matrix_flops_per_s,
    verdicts: data.verdicts,
    suites: data.suites,
    cases,
    details: (of) => detailsOf(data, at(data.cases, of.index)),
  };
}
