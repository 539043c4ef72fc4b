// SPDX-License-Identifier: Apache-2.0
// The tables and views of `perfgate profile --report sqlite:FILE`, which docs/profile-database.md
// describes. Whoever changes a table or a view changes the page and database.cpp, and
// `database_version` if queries that exist would fail or mean something else.
#pragma once

namespace perfgate::activity {

inline constexpr int database_version = 1;

/// The columns of a WorkSummary.
#define PERFGATE_WORK_COLUMNS                                                                     \
    "span_ns INTEGER, gpu_time_ns INTEGER, idle_ns INTEGER, kernel_time_ns INTEGER, "             \
    "kernels INTEGER, copies INTEGER, pageable_copies INTEGER, copied_bytes INTEGER, "            \
    "copy_time_ns INTEGER, overlapped_copy_ns INTEGER, memsets INTEGER, graph_launches INTEGER, " \
    "synchronisations INTEGER, communication_ns INTEGER, exposed_communication_ns INTEGER, "      \
    "underfilled_time_ns INTEGER"

/// Where and when the device did something, and who launched it.
#define PERFGATE_PLACE_COLUMNS                                                                \
    "start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, launch_ns INTEGER, thread INTEGER, " \
    "device INTEGER NOT NULL, context INTEGER NOT NULL, stream INTEGER NOT NULL, "            \
    "correlation INTEGER NOT NULL, graph INTEGER, graph_node INTEGER, "                       \
    "range_id INTEGER REFERENCES range_records"

inline constexpr const char* database_tables = R"sql(
CREATE TABLE schema_version (schema TEXT NOT NULL, version INTEGER NOT NULL);
CREATE TABLE processes (
  process_id INTEGER PRIMARY KEY, pid INTEGER, rank INTEGER, command TEXT NOT NULL,
  level TEXT NOT NULL, ended TEXT, complete INTEGER NOT NULL,
  begin_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
  window_begin_ns INTEGER NOT NULL, window_end_ns INTEGER NOT NULL, )sql" PERFGATE_WORK_COLUMNS
                                               R"sql();
CREATE TABLE problems (process_id INTEGER NOT NULL REFERENCES processes, text TEXT NOT NULL);
CREATE TABLE recording_facts (
  process_id INTEGER NOT NULL REFERENCES processes, key TEXT NOT NULL, value TEXT NOT NULL);
CREATE TABLE launch_counts (
  process_id INTEGER NOT NULL REFERENCES processes, kernel_launches INTEGER NOT NULL,
  captured_launches INTEGER NOT NULL, graph_launches INTEGER NOT NULL,
  failed_launches INTEGER NOT NULL);
CREATE TABLE clock_readings (
  process_id INTEGER NOT NULL REFERENCES processes, time_ns INTEGER NOT NULL,
  realtime_ns INTEGER NOT NULL, monotonic_ns INTEGER NOT NULL);
CREATE TABLE devices (
  process_id INTEGER NOT NULL REFERENCES processes, device INTEGER NOT NULL, name TEXT NOT NULL,
  uuid TEXT NOT NULL, memory_bytes INTEGER NOT NULL,
  memory_bandwidth_bytes_per_s INTEGER NOT NULL, compute_capability TEXT NOT NULL,
  sms INTEGER NOT NULL, mig INTEGER NOT NULL, busy_ns INTEGER, peak_memory_bytes INTEGER);
CREATE TABLE names (name_id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE launch_configurations (
  configuration_id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES processes,
  name_id INTEGER NOT NULL REFERENCES names, symbol_id INTEGER NOT NULL REFERENCES names,
  code TEXT, grid_x INTEGER NOT NULL, grid_y INTEGER NOT NULL, grid_z INTEGER NOT NULL,
  block_x INTEGER NOT NULL, block_y INTEGER NOT NULL, block_z INTEGER NOT NULL,
  cluster_x INTEGER NOT NULL, cluster_y INTEGER NOT NULL, cluster_z INTEGER NOT NULL,
  registers_per_thread INTEGER NOT NULL, static_shared_bytes INTEGER NOT NULL,
  dynamic_shared_bytes INTEGER NOT NULL, local_bytes_per_thread INTEGER NOT NULL,
  cooperative INTEGER NOT NULL);
CREATE TABLE range_records (
  range_id INTEGER PRIMARY KEY, process_id INTEGER NOT NULL REFERENCES processes,
  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, left_open INTEGER NOT NULL,
  thread INTEGER NOT NULL, name_id INTEGER NOT NULL REFERENCES names,
  parent_id INTEGER REFERENCES range_records, depth INTEGER NOT NULL, )sql" PERFGATE_WORK_COLUMNS
                                               R"sql();
CREATE TABLE kernel_records (
  process_id INTEGER NOT NULL REFERENCES processes,
  configuration_id INTEGER REFERENCES launch_configurations, )sql" PERFGATE_PLACE_COLUMNS
                                               R"sql();
CREATE TABLE copies (
  process_id INTEGER NOT NULL REFERENCES processes, kind TEXT NOT NULL, bytes INTEGER NOT NULL,
  source_memory TEXT NOT NULL, destination_memory TEXT NOT NULL,
  asynchronous INTEGER NOT NULL, )sql" PERFGATE_PLACE_COLUMNS R"sql();
CREATE TABLE memsets (
  process_id INTEGER NOT NULL REFERENCES processes,
  bytes INTEGER NOT NULL, )sql" PERFGATE_PLACE_COLUMNS R"sql();
CREATE TABLE api_call_records (
  process_id INTEGER NOT NULL REFERENCES processes, name_id INTEGER NOT NULL REFERENCES names,
  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, thread INTEGER NOT NULL,
  correlation INTEGER NOT NULL, result INTEGER NOT NULL,
  range_id INTEGER REFERENCES range_records);
CREATE TABLE synchronisations (
  process_id INTEGER NOT NULL REFERENCES processes, kind TEXT NOT NULL,
  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, context INTEGER NOT NULL,
  stream INTEGER NOT NULL, correlation INTEGER NOT NULL);
CREATE TABLE marks (
  process_id INTEGER NOT NULL REFERENCES processes, time_ns INTEGER NOT NULL,
  thread INTEGER NOT NULL, name TEXT NOT NULL);
CREATE TABLE memory_events (
  process_id INTEGER NOT NULL REFERENCES processes, time_ns INTEGER NOT NULL,
  operation TEXT NOT NULL, kind TEXT NOT NULL, address INTEGER NOT NULL, bytes INTEGER NOT NULL,
  from_pool INTEGER NOT NULL, device INTEGER NOT NULL, context INTEGER NOT NULL,
  correlation INTEGER NOT NULL);
CREATE TABLE profiler_calls (
  process_id INTEGER NOT NULL REFERENCES processes, time_ns INTEGER NOT NULL,
  thread INTEGER NOT NULL, call TEXT NOT NULL);
CREATE TABLE overheads (
  process_id INTEGER NOT NULL REFERENCES processes, kind TEXT NOT NULL,
  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, thread INTEGER NOT NULL);
CREATE TABLE collectives (
  process_id INTEGER NOT NULL REFERENCES processes, name TEXT NOT NULL,
  communicator TEXT NOT NULL, ranks INTEGER, launched_ns INTEGER NOT NULL, thread INTEGER NOT NULL,
  calls INTEGER NOT NULL, bytes INTEGER NOT NULL, bus_bytes REAL, start_ns INTEGER, end_ns INTEGER);
CREATE TABLE device_samples (
  process_id INTEGER NOT NULL REFERENCES processes, device INTEGER NOT NULL,
  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, sm_active_pct REAL, tensor_active_pct REAL,
  dram_read_pct REAL, dram_write_pct REAL, l2_throughput_pct REAL, pcie_read_bytes_per_s REAL,
  pcie_write_bytes_per_s REAL, nvlink_received_bytes_per_s REAL, nvlink_sent_bytes_per_s REAL);
CREATE TABLE gaps (
  process_id INTEGER NOT NULL REFERENCES processes, start_ns INTEGER NOT NULL,
  end_ns INTEGER NOT NULL, cause TEXT, call TEXT, in_calls_ns INTEGER, before TEXT, after TEXT,
  range_name TEXT, host TEXT);
CREATE TABLE host_samples (
  process_id INTEGER NOT NULL REFERENCES processes, pid INTEGER NOT NULL, thread INTEGER NOT NULL,
  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL, state TEXT NOT NULL,
  stack_id INTEGER REFERENCES names);

CREATE VIEW host_stacks AS
  SELECT h.process_id, p.pid AS process_pid, h.pid, thread, start_ns, h.end_ns,
         h.end_ns - start_ns AS duration_ns, state, name AS stack
  FROM host_samples AS h LEFT JOIN names ON name_id = stack_id
       JOIN processes AS p USING (process_id);
CREATE VIEW kernels AS
  SELECT k.process_id, n.name, s.name AS symbol, k.end_ns - k.start_ns AS duration_ns, k.start_ns,
         k.end_ns, k.launch_ns, k.thread, k.device, k.context, k.stream, k.correlation, k.graph,
         k.graph_node, k.range_id, r.name AS range_name, c.grid_x, c.grid_y, c.grid_z, c.block_x,
         c.block_y, c.block_z, c.cluster_x, c.cluster_y, c.cluster_z, c.registers_per_thread,
         c.static_shared_bytes, c.dynamic_shared_bytes, c.local_bytes_per_thread, c.cooperative,
         c.code
  FROM kernel_records AS k LEFT JOIN launch_configurations AS c USING (configuration_id)
       LEFT JOIN names AS n ON n.name_id = c.name_id
       LEFT JOIN names AS s ON s.name_id = c.symbol_id
       LEFT JOIN range_records AS rr ON rr.range_id = k.range_id
       LEFT JOIN names AS r ON r.name_id = rr.name_id;
CREATE VIEW ranges AS
  SELECT range_id, process_id, name, start_ns, end_ns, end_ns - start_ns AS duration_ns, left_open,
         thread, parent_id, depth, span_ns, gpu_time_ns, idle_ns, kernel_time_ns, kernels, copies,
         pageable_copies, copied_bytes, copy_time_ns, overlapped_copy_ns, memsets, graph_launches,
         synchronisations, communication_ns, exposed_communication_ns, underfilled_time_ns
  FROM range_records JOIN names USING (name_id);
CREATE VIEW api_calls AS
  SELECT process_id, name, start_ns, end_ns, end_ns - start_ns AS duration_ns, thread, correlation,
         result, range_id
  FROM api_call_records JOIN names USING (name_id);

CREATE VIEW kernel_summary AS
  SELECT k.process_id, name, count(*) AS launches, sum(end_ns - start_ns) AS total_ns,
         CAST(avg(end_ns - start_ns) AS INTEGER) AS average_ns, min(end_ns - start_ns) AS min_ns,
         max(end_ns - start_ns) AS max_ns
  FROM kernel_records AS k LEFT JOIN launch_configurations AS c USING (configuration_id)
       LEFT JOIN names AS n USING (name_id)
  GROUP BY k.process_id, name ORDER BY total_ns DESC;
CREATE VIEW copy_summary AS
  SELECT process_id, kind, source_memory, destination_memory, count(*) AS copies,
         sum(bytes) AS bytes, min(bytes) AS min_bytes, max(bytes) AS max_bytes,
         sum(end_ns - start_ns) AS total_ns,
         sum(bytes) * 1e9 / nullif(sum(end_ns - start_ns), 0) AS bytes_per_s
  FROM copies GROUP BY process_id, kind, source_memory, destination_memory ORDER BY total_ns DESC;
CREATE VIEW api_summary AS
  SELECT process_id, name, count(*) AS calls, sum(end_ns - start_ns) AS total_ns,
         CAST(avg(end_ns - start_ns) AS INTEGER) AS average_ns, min(end_ns - start_ns) AS min_ns,
         max(end_ns - start_ns) AS max_ns
  FROM api_call_records JOIN names USING (name_id)
  GROUP BY process_id, name ORDER BY total_ns DESC;
CREATE VIEW range_summary AS
  SELECT process_id, name, count(*) AS instances, sum(end_ns - start_ns) AS total_ns,
         CAST(avg(end_ns - start_ns) AS INTEGER) AS average_ns, sum(gpu_time_ns) AS gpu_time_ns,
         sum(idle_ns) AS idle_ns, sum(kernels) AS kernels, sum(copies) AS copies,
         sum(synchronisations) AS synchronisations
  FROM range_records JOIN names USING (name_id)
  WHERE NOT left_open GROUP BY process_id, name ORDER BY total_ns DESC;
)sql";

/// Made after the rows, which is faster.
inline constexpr const char* database_indices = R"sql(
CREATE INDEX kernels_by_launch ON kernel_records (process_id, launch_ns);
)sql";

#undef PERFGATE_WORK_COLUMNS
#undef PERFGATE_PLACE_COLUMNS

}  // namespace perfgate::activity
