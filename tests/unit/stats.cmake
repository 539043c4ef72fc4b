# SPDX-License-Identifier: Apache-2.0
perfgate_test(stats_test
  SOURCES unit/quantiles_test.cpp unit/distributions_test.cpp unit/rank_sum_test.cpp unit/signed_rank_test.cpp
          unit/spread_test.cpp unit/drift_test.cpp
  LIBRARIES perfgate_stats)
