# SPDX-License-Identifier: Apache-2.0
perfgate_test(measure_test
  SOURCES unit/batches_test.cpp unit/case_measurement_test.cpp unit/case_queue_test.cpp unit/ceiling_shares_test.cpp unit/device_chain_test.cpp unit/preparation_test.cpp unit/measure_process_tree_test.cpp unit/device_lock_test.cpp unit/journal_test.cpp unit/protocol_test.cpp
          unit/sampling_test.cpp unit/sources_test.cpp unit/clock_stability_test.cpp unit/worker_process_test.cpp unit/worker_test.cpp unit/workers_test.cpp
  LIBRARIES "perfgate_measure;perfgate_command_plan;perfgate_source_plan")

# Runs on several devices, each a worker of the program with the host backend.
perfgate_test(session_test SOURCES unit/session_test.cpp LIBRARIES perfgate_measure)
add_dependencies(session_test perfgate fault)
target_compile_definitions(session_test PRIVATE
  PERFGATE_BINARY="$<TARGET_FILE:perfgate>" PERFGATE_FAULT_PLUGIN="$<TARGET_FILE:fault>")
