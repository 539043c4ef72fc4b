# SPDX-License-Identifier: Apache-2.0
perfgate_test(explain_test
  SOURCES unit/explain_details_test.cpp unit/explain_rules_test.cpp unit/explain_kernels_test.cpp unit/explain_test.cpp unit/explain_groups_test.cpp unit/explain_recorded_runs_test.cpp
  LIBRARIES perfgate_explain perfgate_gate perfgate_document perfgate_metrics)
