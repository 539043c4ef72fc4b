// SPDX-License-Identifier: Apache-2.0
// The report as the page needs it, from the data that html_data.cpp writes: numbers replaced by what
// they refer to.
import {
  batchFields,
  type Batch,
  type CaseData,
  type Data,
  kernelFields,
  type Kernel,
  type Metric,
  spreadDataFields,
  type SpreadData,
  type Suite,
  valueDataFields,
  type ValueData,
  type Verdict,
} from "./data";
import { type Row, unpacked } from "./row";

export interface Value extends Omit<ValueData, "metric" | "verdict"> {
  metric: Metric;
  verdict: Verdict | null; // null: not judged
  change: number | null; // fraction of before
}

export interface Spread extends Omit<SpreadData, "metric" | "batches"> {
  metric: Metric;
  batches: Batch[]; // of this run
  allowed: [number, number] | null; // the values that the tolerance allows
}

/** A case as in the table; its details are created when it is opened. */
export interface Case {
  data: CaseData;
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
  kernels: Kernel[];
  values: Value[];
  spreads: Spread[];
}

export interface Report {
  data: Data;
  cases: Case[];
  text(number: number | null): string; // "" for null
  details(of: Case): Details;
}

/** (after - before) / |before| */
function changeOf(before: number | null, after: number | null): number | null {
  if (before === null || after === null || before === 0) return null;
  const change = (after - before) / Math.abs(before);
  return Number.isFinite(change) ? change : null;
}

function at<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new Error(`the data has no entry ${index}`);
  return found;
}

export function parseReport(json: string): Report {
  const data = JSON.parse(json) as Data;
  const text = (number: number | null) => (number === null ? "" : at(data.texts, number));
  const valueOf = (row: Row<ValueData>): Value => {
    const value = unpacked(valueDataFields, row);
    return {
      ...value,
      metric: at(data.metrics, value.metric),
      verdict: value.verdict === null ? null : at(data.verdicts, value.verdict),
      change: changeOf(value.before, value.after),
    };
  };
  const detailsOf = (of: CaseData): Details => {
    const values = (of.values ?? []).map(valueOf);
    const spreads = (of.spreads ?? []).map((row): Spread => {
      const spread = unpacked(spreadDataFields, row);
      const metric = at(data.metrics, spread.metric);
      const { least = null, most = null } = values.find((value) => value.metric === metric) ?? {};
      return {
        ...spread,
        metric,
        batches: spread.batches.map((batch) => unpacked(batchFields, batch)),
        allowed: least !== null && most !== null ? [least, most] : null,
      };
    });
    const kernels = (of.kernels ?? []).map((row, i) => ({ ...unpacked(kernelFields, row), name: text(of.kernel_names?.[i] ?? null) }));
    return { kernels, values, spreads };
  };
  const cases = data.cases.map((of): Case => {
    const suite = at(data.suites, of.suite);
    const tags = (of.tags ?? []).map(text);
    const shown = (of.values ?? []).find(([metric]) => metric === of.shown);
    return {
      data: of,
      suite,
      id: of.id,
      key: `${suite.name}/${of.id}`,
      workload: text(of.workload),
      verdict: at(data.verdicts, of.verdict),
      tags,
      reason: of.first ?? of.reasons?.[0] ?? "",
      shown: shown ? valueOf(shown) : null,
      searched: [suite.name, of.id, ...tags, of.first ?? "", ...(of.reasons ?? []), ...(of.why ?? [])].join("\n").toLowerCase(),
    };
  });
  return { data, cases, text, details: (of) => detailsOf(of.data) };
}
