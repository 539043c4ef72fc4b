# SPDX-License-Identifier: Apache-2.0
perfgate_test(activity_test
  SOURCES unit/activity_analysis_test.cpp unit/activity_capture_test.cpp unit/activity_captured_part_test.cpp unit/activity_communication_test.cpp unit/activity_counted_test.cpp unit/activity_difference_test.cpp unit/activity_host_stacks_test.cpp
          unit/activity_memory_test.cpp unit/activity_page_test.cpp unit/page_types_test.cpp unit/activity_samples_test.cpp unit/activity_stream_test.cpp unit/activity_trace_test.cpp
  LIBRARIES "perfgate_activity;fmt::fmt;nlohmann_json::nlohmann_json")
target_include_directories(activity_test PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/unit")
