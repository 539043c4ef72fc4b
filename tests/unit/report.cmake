# SPDX-License-Identifier: Apache-2.0
perfgate_test(report_test
  SOURCES unit/report_fixture.cpp unit/report_formats_test.cpp unit/report_golden_test.cpp
          unit/report_plain_text_test.cpp unit/report_columns_test.cpp
          unit/report_console_test.cpp unit/report_junit_test.cpp unit/report_csv_test.cpp
  LIBRARIES perfgate_report pugixml::pugixml)
target_include_directories(report_test PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/unit")
