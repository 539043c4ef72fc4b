// SPDX-License-Identifier: Apache-2.0
// The index of a history, and its cases, each of which is loaded from its file when it is opened.
import { unpacked } from "../row";
import {
  caseFields,
  monthFields,
  nightFields,
  noteFields,
  pointFields,
  runFields,
  type Case,
  type CaseFile,
  type Index,
  type Metric,
  type Month,
  type Night,
  type Note,
  type Point,
  type Run,
} from "./data";

export interface Finding {
  device: string;
  run: Run;
  run_number: number;
  cause: string;
  evidence: string;
  points: Point[];
}

export interface History {
  text(number: number): string;
  lately_days: number;
  edition: string;
  runs: Run[];
  metrics: Metric[];
  cases: Case[];
  findings: Finding[];
  notes: Note[];
  months: Month[];
}

export interface Change extends Point {
  night: number;
  finding: Finding;
}

export interface Series {
  device: string;
  metric: Metric;
  tolerance: number;
  nights: Night[];
  changes: Change[];
  notes: Note[];
}

const noRun: Run = { started: "", revision: "", device: -1, driver: -1, toolkit: -1, board: -1, tool: -1 };

export function parseHistory(text: string): History {
  const index = JSON.parse(text) as Index;
  const words = (number: number) => index.texts[number] ?? "";
  const runs = index.runs.map((row) => unpacked(runFields, row));
  return {
    text: words,
    lately_days: index.lately_days,
    edition: index.edition,
    runs,
    metrics: index.metrics,
    cases: index.cases.map((row) => unpacked(caseFields, row)),
    findings: index.findings.map((finding) => ({
      device: words(finding.device),
      run: runs[finding.run] ?? noRun,
      run_number: finding.run,
      cause: words(finding.cause),
      evidence: words(finding.evidence),
      points: finding.points.map((row) => unpacked(pointFields, row)),
    })),
    notes: index.notes.map((row) => unpacked(noteFields, row)),
    months: index.months.map((row) => unpacked(monthFields, row)),
  };
}

export function runOf(history: History, night: { run: number }): Run {
  return history.runs[night.run] ?? noRun;
}

declare global {
  interface Window {
    /** Files of cases call it. */
    perfgate_case?: (file: CaseFile) => void;
  }
}

const waiting = new Map<number, (file: CaseFile) => void>();
window.perfgate_case = (file) => waiting.get(file.of_case)?.(file);

/** A script, because pages from disk may load nothing else. It calls perfgate_case with its data. */
export function loadCase(history: History, number: number): Promise<Series[]> {
  const name = history.cases[number]?.file ?? "";
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const end = (problem: string, file?: CaseFile) => {
      waiting.delete(number);
      script.remove();
      if (file) resolve(seriesOf(history, number, file));
      else reject(new Error(problem));
    };
    waiting.set(number, (file) => end("This page is older or newer than its data: load it again.", file.edition === history.edition ? file : undefined));
    script.addEventListener("error", () => end(`The data of this case, data/${name}.js, cannot be loaded.`));
    script.src = `data/${name}.js?${history.edition}`;
    document.head.append(script);
  });
}

function seriesOf(history: History, number: number, file: CaseFile): Series[] {
  const suite = history.cases[number]?.suite;
  return file.series.map((series) => {
    const device = history.text(series.device);
    const nights = series.nights.map((row) => unpacked(nightFields, row));
    const changes = history.findings
      .filter((finding) => finding.device === device)
      .flatMap((finding) =>
        finding.points
          .filter((point) => point.of_case === number && point.metric === series.metric)
          .map((point) => ({ ...point, finding, night: nights.findIndex((night) => night.run === finding.run_number) })),
      )
      .filter((change) => change.night >= 0)
      .sort((left, right) => left.night - right.night);
    return {
      device,
      metric: history.metrics[series.metric] ?? { name: "", unit: "", direction: "none" },
      tolerance: series.tolerance,
      nights,
      changes,
      notes: history.notes.filter((note) => note.device === series.device && note.suite === suite && (note.of_case === null || note.of_case === number)),
    };
  });
}

/** "2026-11-21", or what the run says instead. */
export const dayOf = (utc: string) => utc.slice(0, 10);

export const revisionOf = (run: Run) => (run.revision === "" ? "no revision" : run.revision.slice(0, 12));
