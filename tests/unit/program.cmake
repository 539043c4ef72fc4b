# SPDX-License-Identifier: Apache-2.0
perfgate_test(program_test
  SOURCES unit/program_process_tree_test.cpp unit/program_time_limit_test.cpp
  LIBRARIES perfgate_program Threads::Threads)
