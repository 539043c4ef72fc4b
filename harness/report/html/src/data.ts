// SPDX-License-Identifier: Apache-2.0
// Made from report/html_data.hpp by page_types_test.cpp: PERFGATE_UPDATE_GOLDEN=1 writes it anew.
import type { Row } from "./row";

export interface Ceilings {
  copy_bytes_per_s?: number; matrix_flops_per_s?: Record<string, number>; link_bytes_per_s?: number; problem?: string;
}

export interface Work {
  flops: number; bytes: number; arithmetic?: string;
}

export interface Verdict {
  name: string; severity: number; outcome: string;
}

export interface Metric {
  name: string; unit: string; description?: string;
}

export interface Relation {
  verdict: number; word: string; name: string; sentence: string;
}

export interface Suite {
  name: string; counts: string; baseline?: string; relations_in_words?: string; relations?: Relation[];
}

export interface Note {
  text: string; suites?: string[];
}

export interface Command {
  purpose: string; line: string;
}

export interface Place {
  file: string; line: number;
}

export interface Kernel {
  name: string; grid: [number, number, number]; block: [number, number, number]; registers: number;
  static_smem: number; dynamic_smem: number; local_bytes: number; theoretical_occupancy: number | null;
  duration_ns: number | null; metrics: Record<string, number> | null; cluster: [number, number, number] | null;
  carveout: number | null; cooperative: boolean | null; code: string | null; arguments: string | null;
  argument_words: string | null; launches: number | null; time_ns: number | null; source: Place | null;
  waves: number | null; code_bytes: number | null; stack_bytes: number | null;
}
export const kernelFields: readonly (keyof Kernel)[] = [
  "name", "grid", "block", "registers", "static_smem", "dynamic_smem", "local_bytes", "theoretical_occupancy",
  "duration_ns", "metrics", "cluster", "carveout", "cooperative", "code", "arguments", "argument_words", "launches",
  "time_ns", "source", "waves", "code_bytes", "stack_bytes",
];

export interface ValueData {
  metric: number; before: number | null; after: number | null; before_text: string | null; after_text: string | null;
  moved: string | null; verdict: number | null; tolerance: number | null; interval: string | null;
  least: number | null; most: number | null; sentence: string | null;
}
export const valueDataFields: readonly (keyof ValueData)[] = [
  "metric", "before", "after", "before_text", "after_text", "moved", "verdict", "tolerance", "interval", "least",
  "most", "sentence",
];

export interface Batch {
  process: number; round: number; count: number; samples: number[]; sm_clock_mhz: number | null;
  excluded: number | null;
}
export const batchFields: readonly (keyof Batch)[] = [
  "process", "round", "count", "samples", "sm_clock_mhz", "excluded",
];

export interface SpreadData {
  metric: number; baseline: number[]; measured: number[]; batches: Row<Batch>[]; method: number | null;
}
export const spreadDataFields: readonly (keyof SpreadData)[] = [
  "metric", "baseline", "measured", "batches", "method",
];

export interface Stall {
  words: string; before: number; after: number;
}

export interface CodeLine {
  place: string; was?: string; text?: string; instructions_before: number; instructions_after: number; before: number;
  after: number; stalls?: Stall[];
}

export interface CodeKernel {
  name: string; sentence: string; time?: string; classes?: string; compared?: boolean; timed?: boolean;
  length_before?: number; length_after?: number; lines?: CodeLine[]; rows?: string[];
}

export interface CaseData {
  suite: number; id: string; workload: number; verdict: number; place?: string; first?: string;
  compared_with?: string; reasons?: string[]; why?: string[]; notes?: string[]; log?: string; code?: string;
  roof?: string; wall_s: number; tags?: number[]; not_applicable?: number[]; verified?: string; work?: Work;
  kernels?: Row<Kernel>[]; kernel_names?: number[]; shown?: number; values?: Row<ValueData>[];
  spreads?: Row<SpreadData>[]; machine_code?: CodeKernel[];
}

export interface Data {
  summary?: string; counts: string; exit_code: number; verify_only?: boolean; facts: [string, string][];
  commands?: Command[]; notes?: Note[]; ceilings: Ceilings; verdicts: Verdict[]; suites: Suite[]; cases: CaseData[];
  texts: string[]; metrics: Metric[];
}
