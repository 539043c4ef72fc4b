# SPDX-License-Identifier: Apache-2.0
perfgate_test(common_kernels_test
  SOURCES unit/common_inputs_test.cpp
  LIBRARIES kernels_common)
