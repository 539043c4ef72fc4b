# SPDX-License-Identifier: Apache-2.0
# The command line's room is the program: its pure parts are compiled in here.
perfgate_test(cli_test
  SOURCES unit/progress_text_test.cpp unit/self_test_text_test.cpp
          "${PROJECT_SOURCE_DIR}/harness/cli/terminal/progress.cpp"
          "${PROJECT_SOURCE_DIR}/harness/cli/terminal/texts.cpp"
  LIBRARIES perfgate_runner)
target_include_directories(cli_test PRIVATE "${PROJECT_SOURCE_DIR}/harness")
