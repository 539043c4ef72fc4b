# SPDX-License-Identifier: Apache-2.0
perfgate_test(runner_test
  SOURCES unit/confirm_test.cpp unit/merge_test.cpp unit/self_test_test.cpp unit/canary_test.cpp
  LIBRARIES perfgate_runner)
target_include_directories(runner_test PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
