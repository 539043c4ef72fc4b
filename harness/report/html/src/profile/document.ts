// SPDX-License-Identifier: Apache-2.0
// The data as activity/page_data.cpp writes it, and the timelines as they are drawn.

const eventKinds = ["kernel", "copy", "memset", "range", "call", "wait"] as const;
export type EventKind = (typeof eventKinds)[number];
const trackKinds = ["device", "ranges", "calls"] as const;
export type TrackKind = (typeof trackKinds)[number];

export interface Durations {
  count: number;
  total_ns: number;
  median_ns: number;
  min_ns: number;
  max_ns: number;
}

export interface Work {
  span_ns: number;
  gpu_time_ns: number;
  idle_ns: number;
  kernel_time_ns: number;
  /** Absent: the number of SMs is not on record. */
  underfilled_time_ns?: number;
  kernels: number;
  short_kernels: number;
  copies: number;
  pageable_copies: number;
  copied_bytes: number;
  copy_time_ns: number;
  overlapped_copy_ns: number;
  memsets: number;
  graph_launches: number;
  synchronisations: number;
}

export interface Kernel extends Durations {
  name: number;
  grid: string;
  block: string;
  registers: number;
  configurations: number;
}

export interface Copies extends Durations {
  kind: string;
  memory: string;
  bytes: number;
  bytes_per_s: number;
}

export interface Ranges extends Durations {
  name: number;
  work: Work;
}

export interface Calls extends Durations {
  name: number;
  idle_ns?: number;
}

export interface Gap {
  begin_ns: number;
  length_ns: number;
  cause: string;
  call?: string;
  in_calls_ns?: number;
  before: number;
  after: number;
  range?: number;
}

export interface Device {
  device: number;
  name: string;
  busy_ns: number;
  kernels: number;
  peak_memory_bytes: number;
}

/** The first rows of a table that has `all`. */
export interface Rows<Row> {
  all: number;
  rows: Row[];
}

interface TrackData {
  kind: number;
  device?: number;
  context?: number;
  stream?: number;
  thread?: number;
  recorded: number;
  /**
   * Five numbers for each event: begin after that of the one before, length, kind, and two more:
   * of merged ones how many and the sum of their lengths; of a kernel the time since its launch, of
   * a copy and a memset the bytes, of a call its result, and of all of these the text of the range;
   * of a range GPU time and kernels. -1: not known.
   */
  rows: number[][];
}

export interface Process {
  pid?: string;
  rank?: string;
  command?: string;
  level?: string;
  incomplete?: string[];
  advice: string[];
  notes: string[];
  length_ns: number;
  has_calls: boolean;
  tracks_left_out?: number;
  program: Work;
  devices: Rows<Device>;
  kernels: Rows<Kernel>;
  copies: Rows<Copies>;
  ranges: Rows<Ranges>;
  calls: Rows<Calls>;
  waits: Rows<Calls>;
  gaps: Rows<Gap>;
  /** How busy the GPU was in equal pieces of the time, in per mille. */
  busy: number[];
  tracks: TrackData[];
}

interface KindData {
  kind: number;
  name: number;
  /** Several events in one, to bound the page: of the longest of them are the kind and the name. */
  merged?: boolean;
  grid?: string;
  block?: string;
  registers?: number;
  shared_bytes?: number;
  from?: string;
  to?: string;
}

export interface Kind extends Omit<KindData, "kind"> {
  kind: EventKind;
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

export interface Profile {
  processes: readonly Process[];
  leftOut: readonly string[];
  kinds: readonly Kind[];
  text(number: number): string;
  tracks(process: Process): Track[];
}

export function parseProfile(json: string): Profile {
  const data = JSON.parse(json) as { processes: Process[]; left_out: string[]; texts: string[]; kinds: KindData[] };
  const text = (number: number) => data.texts[number] ?? "";
  return {
    processes: data.processes,
    leftOut: data.left_out,
    kinds: data.kinds.map((kind) => ({ ...kind, kind: eventKinds[kind.kind] ?? "call", text: text(kind.name) })),
    text,
    tracks: (process) => {
      const contexts = new Map<number, Set<number>>();
      for (const { device = -1, context = 0 } of process.tracks) {
        contexts.set(device, (contexts.get(device) ?? new Set()).add(context));
      }
      return process.tracks.map((track) => {
        const kind = trackKinds[track.kind] ?? "calls";
        const device = process.devices.rows.find((known) => known.device === track.device);
        const several = (contexts.get(track.device ?? -1)?.size ?? 0) > 1;
        return {
          kind,
          group: kind === "device" ? `GPU ${track.device ?? 0} ${device?.name ?? ""}`.trim() : `Thread ${track.thread ?? 0}`,
          label:
            kind === "device"
              ? `stream ${track.stream ?? 0}${several ? `, context ${track.context ?? 0}` : ""}`
              : kind === "ranges"
                ? "NVTX ranges"
                : "CUDA calls",
          recorded: track.recorded,
          rows: track.rows.map(rowOf),
        };
      });
    },
  };
}
