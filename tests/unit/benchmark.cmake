# SPDX-License-Identifier: Apache-2.0
perfgate_test(benchmark_test
  SOURCES unit/benchmark_formats_test.cpp unit/benchmark_nvbench_test.cpp unit/benchmark_tables_test.cpp
  LIBRARIES "perfgate_benchmark_formats;fmt::fmt")
