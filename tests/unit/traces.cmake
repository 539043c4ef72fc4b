# SPDX-License-Identifier: Apache-2.0
perfgate_test(traces_test
  SOURCES unit/traces_kineto_test.cpp unit/traces_nsight_systems_test.cpp
  LIBRARIES "perfgate_traces;SQLite::SQLite3;ZLIB::ZLIB")
