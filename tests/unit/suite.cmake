# SPDX-License-Identifier: Apache-2.0
perfgate_test(suite_test
  SOURCES unit/suite_amount_test.cpp unit/suite_cases_test.cpp unit/suite_matrix_test.cpp
          unit/suite_parse_test.cpp unit/suite_plan_test.cpp unit/suite_profile_test.cpp
          unit/suite_yaml_reader_test.cpp
  LIBRARIES perfgate_suite)
target_include_directories(suite_test PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/unit")

# Exit code 77: python3-jsonschema or python3-yaml is missing; the script says so.
find_program(PERFGATE_PYTHON3 python3)
if(PERFGATE_PYTHON3)
  add_test(NAME suite_schema_agrees
    COMMAND "${PERFGATE_PYTHON3}" "${CMAKE_CURRENT_SOURCE_DIR}/e2e/schema_agrees.py")
  set_tests_properties(suite_schema_agrees PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 60)
else()
  message(STATUS "perfgate: no python3: the test that the suite schema agrees is left out")
endif()
