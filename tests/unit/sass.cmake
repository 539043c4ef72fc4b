# SPDX-License-Identifier: Apache-2.0
perfgate_test(sass_test
  SOURCES unit/sass_difference_test.cpp unit/sass_alignment_test.cpp unit/sass_samples_test.cpp unit/sass_causes_test.cpp
  LIBRARIES perfgate_sass perfgate_document)
