# SPDX-License-Identifier: Apache-2.0
perfgate_test(stats_test SOURCES unit/quantiles_test.cpp LIBRARIES perfgate_stats)
