# SPDX-License-Identifier: Apache-2.0
perfgate_test(gate_test
  SOURCES unit/gate_renames_test.cpp unit/quantity_test.cpp unit/sentence_test.cpp unit/significance_test.cpp
          unit/rule_test.cpp unit/batch_rule_counters_test.cpp unit/batch_rule_drift_test.cpp unit/batch_rule_rates_test.cpp unit/batch_rule_test.cpp
          unit/gate_choices_test.cpp unit/gate_test.cpp unit/gate_severity_test.cpp
          unit/gate_suites_test.cpp unit/gate_ceiling_share_test.cpp unit/gate_energy_test.cpp unit/gate_measured_as_test.cpp unit/gate_tail_test.cpp unit/gate_other_work_test.cpp unit/gate_provenance_change_test.cpp unit/gate_settled_test.cpp unit/gate_unaccepted_test.cpp
          unit/selection_test.cpp unit/relations_test.cpp unit/baseline_relations_test.cpp
          unit/machine_code_test.cpp unit/overhead_test.cpp unit/repeated_results_test.cpp unit/too_fast_test.cpp unit/program_kernels_test.cpp unit/paired_rule_test.cpp unit/proof_test.cpp unit/relation_proof_test.cpp
  LIBRARIES perfgate_gate perfgate_baseline perfgate_metrics)
