# SPDX-License-Identifier: Apache-2.0
perfgate_test(report_test
  SOURCES unit/report_fixture.cpp unit/report_formats_test.cpp unit/report_golden_test.cpp
          unit/report_plain_text_test.cpp unit/report_columns_test.cpp
          unit/report_joined_test.cpp unit/report_console_test.cpp
          unit/report_junit_test.cpp unit/report_markdown_test.cpp
          unit/report_annotations_test.cpp unit/report_explanations_test.cpp
          unit/report_csv_test.cpp unit/report_across_test.cpp unit/report_html_test.cpp
  LIBRARIES perfgate_report perfgate_explain pugixml::pugixml nlohmann_json::nlohmann_json)
target_include_directories(report_test PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/unit")

# The golden JUnit files, as other people's parsers count them. Debian's python3-junitparser belongs
# to the system's interpreter, which need not be the first one in the path.
find_program(PERFGATE_SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(PERFGATE_SYSTEM_PYTHON python3)
if(PERFGATE_SYSTEM_PYTHON)
  set(golden "${PROJECT_SOURCE_DIR}/tests/data/golden")
  set(readers "${PROJECT_SOURCE_DIR}/tests/e2e/junit_readers.py")
  add_test(NAME report.junit_readers.every_verdict
    COMMAND "${PERFGATE_SYSTEM_PYTHON}" "${readers}" "${golden}/report.verdict.json"
            "${golden}/report.github.junit.xml" "${golden}/report.strict.junit.xml"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  add_test(NAME report.junit_readers.policy_fails_no_baseline
    COMMAND "${PERFGATE_SYSTEM_PYTHON}" "${readers}" "${golden}/first_run.verdict.json"
            "${golden}/first_run.github.junit.xml"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(report.junit_readers.every_verdict
    report.junit_readers.policy_fails_no_baseline PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 120)
endif()
