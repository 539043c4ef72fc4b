# SPDX-License-Identifier: Apache-2.0
perfgate_test(transpose_test
  SOURCES unit/transpose_reference_test.cpp
  LIBRARIES transpose_host)
