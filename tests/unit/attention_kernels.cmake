# SPDX-License-Identifier: Apache-2.0
perfgate_test(attention_test
  SOURCES unit/attention_reference_test.cpp unit/attention_checker_test.cpp
  LIBRARIES attention_host)
