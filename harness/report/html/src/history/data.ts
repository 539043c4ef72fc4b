// SPDX-License-Identifier: Apache-2.0
// Made from history/site.hpp by page_types_test.cpp: PERFGATE_UPDATE_GOLDEN=1 writes it anew.
import type { Row } from "../row";

export interface Run {
  started: string; revision: string; device: number; driver: number; toolkit: number; board: number; tool: number;
}
export const runFields: readonly (keyof Run)[] = [
  "started", "revision", "device", "driver", "toolkit", "board", "tool",
];

export interface Metric {
  name: string; unit: string; direction: string;
}

export interface Case {
  suite: number; id: string; file: string;
}
export const caseFields: readonly (keyof Case)[] = [
  "suite", "id", "file",
];

export interface Point {
  of_case: number; metric: number; before: number; after: number; from: string; to: string; moved: string;
  worse: boolean; open: boolean; accepted: boolean;
}
export const pointFields: readonly (keyof Point)[] = [
  "of_case", "metric", "before", "after", "from", "to", "moved", "worse", "open", "accepted",
];

export interface FindingData {
  device: number; cause: number; evidence: number; run: number; points: Row<Point>[];
}

export interface Note {
  device: number; suite: number; of_case: number | null; at: string; action: string; by: string; reason: string;
}
export const noteFields: readonly (keyof Note)[] = [
  "device", "suite", "of_case", "at", "action", "by", "reason",
];

export interface Month {
  month: string; judged: number; alarms: number; false_alarms: number; reran: number; acknowledged: number | null;
  accepted: number | null;
}
export const monthFields: readonly (keyof Month)[] = [
  "month", "judged", "alarms", "false_alarms", "reran", "acknowledged", "accepted",
];

export interface Index {
  edition: string; lately_days: number; runs: Row<Run>[]; texts: string[]; metrics: Metric[]; cases: Row<Case>[];
  findings: FindingData[]; notes: Row<Note>[]; months: Row<Month>[];
}

export interface Night {
  run: number; values: number[]; verdict: number | null;
}
export const nightFields: readonly (keyof Night)[] = [
  "run", "values", "verdict",
];

export interface SeriesData {
  device: number; metric: number; tolerance: number; nights: Row<Night>[];
}

export interface CaseFile {
  edition: string; of_case: number; series: SeriesData[];
}
