# SPDX-License-Identifier: Apache-2.0
perfgate_test(history_test
  SOURCES unit/history_changes_test.cpp unit/history_record_test.cpp unit/history_store_test.cpp
  LIBRARIES perfgate_history)
