# SPDX-License-Identifier: Apache-2.0
perfgate_test(softmax_test
  SOURCES unit/softmax_reference_test.cpp
  LIBRARIES softmax_host)
