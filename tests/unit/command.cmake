# SPDX-License-Identifier: Apache-2.0
perfgate_test(command_test
  SOURCES unit/command_counters_test.cpp unit/command_captured_test.cpp unit/command_communication_test.cpp unit/command_device_watch_test.cpp unit/command_pieces_test.cpp unit/command_program_code_test.cpp unit/command_recorder_test.cpp unit/command_runs_test.cpp unit/command_sampled_values_test.cpp
  LIBRARIES "perfgate_benchmark;perfgate_command;perfgate_activity;fmt::fmt")
target_compile_definitions(command_test PRIVATE PERFGATE_CUBIN_DIR="${CMAKE_CURRENT_BINARY_DIR}/cubins")
