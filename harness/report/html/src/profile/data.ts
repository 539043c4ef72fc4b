// SPDX-License-Identifier: Apache-2.0
// Made from activity/profile_fields.hpp by page_types_test.cpp: PERFGATE_UPDATE_GOLDEN=1 writes it anew.

export interface Durations {
  count: number; total_ns: number; median_ns: number; min_ns: number; max_ns: number;
}

export interface Work {
  span_ns: number; gpu_time_ns: number; idle_ns: number; idle_share: number; kernels: number; kernel_time_ns: number;
  underfilled_time_ns?: number; short_kernels: number; copies: number; pageable_copies: number; copied_bytes: number;
  copy_time_ns: number; overlapped_copy_ns: number; memsets: number; graph_launches: number; synchronisations: number;
  communication_ns: number; exposed_communication_ns: number;
}

export interface Kernel {
  name: string; symbol: string; code?: string; count: number; total_ns: number; median_ns: number; min_ns: number;
  max_ns: number; order?: number; configurations: number; grid: [number, number, number];
  block: [number, number, number]; registers: number; static_smem_bytes: number; dynamic_smem_bytes: number;
}

export interface Copies {
  kind: "unknown" | "host to device" | "device to host" | "host to array" | "array to host" | "array to array" | "array to device" | "device to array" | "device to device" | "host to host" | "peer to peer";
  memory: string; bytes: number; min_bytes?: number; median_bytes?: number; max_bytes?: number; bytes_per_s: number;
  count: number; total_ns: number; median_ns: number; min_ns: number; max_ns: number;
}

export interface Collective {
  name: string; communicator: string; ranks: number; calls: number; bytes: number; bus_bytes: number; count: number;
  total_ns: number; median_ns: number; min_ns: number; max_ns: number; transfer_ns?: number;
  algorithm_bytes_per_s: number; bus_bytes_per_s: number; compared?: number; last?: number; wait_ns?: number;
}

export interface Sampled {
  mean: number; low_share: number;
}

export interface Calls {
  name: string; count: number; total_ns: number; median_ns: number; min_ns: number; max_ns: number; idle_ns?: number;
}

export interface UncapturableCall {
  name: string; why: string; range: string; count: number;
}

export interface Overhead {
  name: string; source?: "unknown" | "cupti" | "driver"; count: number; total_ns: number; median_ns: number;
  min_ns: number; max_ns: number;
}

export interface Device {
  device: number; name: string; sms?: number; busy_ns: number; kernels: number; peak_memory_bytes: number;
}

export interface RangeInstance {
  begin_ns: number; end_ns: number; thread: number; span_ns: number; gpu_time_ns: number; idle_ns: number;
  idle_share: number; kernels: number; kernel_time_ns: number; underfilled_time_ns?: number; short_kernels: number;
  copies: number; pageable_copies: number; copied_bytes: number; copy_time_ns: number; overlapped_copy_ns: number;
  memsets: number; graph_launches: number; synchronisations: number; communication_ns: number;
  exposed_communication_ns: number;
}

export interface RangeKernel {
  kernel: number; count: number; total_ns: number;
}

export interface Ranges {
  name: string; left_open?: number; count: number; total_ns: number; median_ns: number; min_ns: number;
  max_ns: number; work: Work; kernels?: RangeKernel[]; sampled?: Record<string, Sampled>; instances: RangeInstance[];
}

export interface Gap {
  begin_ns: number; end_ns: number; cause: "synchronisation" | "api_call" | "nothing_submitted" | "not_recorded";
  call?: string; in_calls_ns: number; before: string; after: string; range?: string; host?: string;
}

export interface HostActivity {
  name: string; state?: string; file?: string; line?: number; time_ns: number;
}

export interface Flame {
  parent?: number; name: string; file?: string; time_ns: number;
}

export interface Counts {
  counted_with_callbacks: number; kernel_launches: number; captured_launches: number; graph_launches: number;
  failed_launches: number; unreadable_modules: number;
}

export interface Profile {
  recording: Record<string, string>; end: string; incomplete: string[]; by_launch: boolean; without_launch: number;
  begin_ns: number; end_ns: number; note?: string; program: Work; sampled?: Record<string, Sampled>; counts: Counts;
  devices: Device[]; kernels: Kernel[]; copies: Copies[]; communication?: Collective[]; memsets: Durations;
  memset_bytes: number; calls: Calls[]; waits: Calls[]; uncapturable?: UncapturableCall[]; ranges: Ranges[];
  gaps: Gap[]; host?: HostActivity[]; host_sampled_ns?: number; overhead_ns: number; compiling_ns?: number;
  loading_ns?: number; overheads: Overhead[];
}

export interface TrackData {
  kind: "device" | "ranges" | "calls"; device?: number; context?: number; stream?: number; thread?: number;
  recorded: number; rows: number[][];
}

export interface KindData {
  kind: "kernel" | "copy" | "memset" | "range" | "call" | "wait"; name: number; merged?: boolean; grid?: string;
  block?: string; registers?: number; shared_bytes?: number; from?: string; to?: string;
}

export interface SamplesData {
  name: string; label: string; most: number; unit: string; values: number[];
}

export interface Process {
  profile: Profile; all: Record<string, number>; advice: string[]; notes: string[]; length_ns: number;
  tracks_left_out?: number; busy: number[]; samples?: SamplesData[]; tracks: TrackData[]; flame?: Flame[];
}

export interface Page {
  left_out: string[]; processes: Process[]; texts: string[]; kinds: KindData[];
}
