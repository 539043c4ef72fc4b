# SPDX-License-Identifier: Apache-2.0
perfgate_test(suite_test
  SOURCES unit/suite_yaml_reader_test.cpp unit/suite_amount_test.cpp unit/suite_matrix_test.cpp
  LIBRARIES perfgate_suite)
