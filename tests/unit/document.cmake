# SPDX-License-Identifier: Apache-2.0
perfgate_test(document_test
  SOURCES unit/document_archive_test.cpp unit/document_baseline_test.cpp unit/document_ledger_test.cpp
          unit/document_recorded_test.cpp unit/document_relation_test.cpp
          unit/document_run_test.cpp unit/document_verdict_test.cpp
          unit/json_reader_test.cpp unit/json_writer_test.cpp
  LIBRARIES "perfgate_document;fmt::fmt")
