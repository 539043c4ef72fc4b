# SPDX-License-Identifier: Apache-2.0
perfgate_test(activity_test
  SOURCES unit/activity_analysis_test.cpp unit/activity_capture_test.cpp unit/activity_stream_test.cpp
  LIBRARIES "perfgate_activity;fmt::fmt")
