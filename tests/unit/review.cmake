# SPDX-License-Identifier: Apache-2.0
perfgate_test(review_test
  SOURCES unit/review_baselines_test.cpp unit/review_benchmarks_test.cpp unit/review_profiles_test.cpp unit/review_test.cpp
          unit/review_unknown_workloads_test.cpp
  LIBRARIES perfgate_review)
target_include_directories(review_test PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/unit")
