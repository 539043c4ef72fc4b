# SPDX-License-Identifier: Apache-2.0
perfgate_test(baseline_test
  SOURCES unit/accept_test.cpp unit/baseline_lock_test.cpp unit/baseline_store_test.cpp unit/file_changes_test.cpp unit/refresh_test.cpp unit/diff_test.cpp
          unit/improvements_test.cpp unit/pooling_test.cpp unit/prune_test.cpp unit/verify_test.cpp
  LIBRARIES perfgate_baseline)
