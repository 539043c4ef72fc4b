# SPDX-License-Identifier: Apache-2.0
# Its main is also the worker that it starts: unit/runner_main.cpp.
perfgate_test(runner_test
  SOURCES unit/back_to_back_test.cpp unit/baselines_test.cpp unit/builds_test.cpp unit/canary_test.cpp unit/changed_only_test.cpp unit/code_views_test.cpp unit/confirm_test.cpp unit/doctor_test.cpp
          unit/git_test.cpp unit/merge_test.cpp unit/metric_list_test.cpp unit/outputs_test.cpp
          unit/reviewed_files_test.cpp unit/runner_ab_test.cpp unit/runner_devices_test.cpp unit/runner_main.cpp unit/runner_plan_test.cpp
          unit/runner_reports_test.cpp unit/runner_self_test_test.cpp unit/runner_test.cpp unit/self_test_test.cpp
          unit/sides_test.cpp
  LIBRARIES perfgate_runner)
