# SPDX-License-Identifier: Apache-2.0
perfgate_test(model_test
  SOURCES unit/document_baseline_test.cpp unit/case_test.cpp unit/date_test.cpp unit/file_test.cpp
          unit/json_reader_test.cpp unit/json_writer_test.cpp unit/document_ledger_test.cpp unit/metric_test.cpp
          unit/document_relation_test.cpp unit/roofline_test.cpp unit/document_run_test.cpp
          unit/sha256_test.cpp unit/text_test.cpp unit/tolerance_test.cpp
          unit/document_verdict_test.cpp unit/verdict_test.cpp
  LIBRARIES "perfgate_model;fmt::fmt")
