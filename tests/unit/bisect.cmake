# SPDX-License-Identifier: Apache-2.0
perfgate_test(bisect_test SOURCES unit/bisect_search_test.cpp unit/bisect_decision_test.cpp LIBRARIES perfgate_bisect)
