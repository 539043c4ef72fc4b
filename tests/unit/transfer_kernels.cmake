# SPDX-License-Identifier: Apache-2.0
perfgate_test(transfer_test
  SOURCES unit/transfer_reference_test.cpp
  LIBRARIES transfer_host)
