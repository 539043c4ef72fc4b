# SPDX-License-Identifier: Apache-2.0
perfgate_test(gemm_test
  SOURCES unit/gemm_checker_test.cpp unit/gemm_epilogue_test.cpp
  LIBRARIES gemm_host)
