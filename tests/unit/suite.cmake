# SPDX-License-Identifier: Apache-2.0
perfgate_test(suite_test
  SOURCES unit/suite_amount_test.cpp unit/suite_benchmark_relations_test.cpp unit/suite_cases_test.cpp unit/suite_matrix_test.cpp unit/suite_measured_as_test.cpp
          unit/suite_parse_test.cpp unit/suite_placed_text_test.cpp unit/suite_plan_test.cpp unit/suite_profile_test.cpp unit/suite_shard_test.cpp unit/suite_relations_test.cpp unit/suite_schema.cpp unit/suite_schema_test.cpp unit/suite_source_test.cpp
          unit/suite_yaml_reader_test.cpp unit/tolerance_edit_test.cpp unit/python_declared_test.cpp
  LIBRARIES perfgate_suite)
target_compile_definitions(suite_test PRIVATE PERFGATE_ROOT="${PROJECT_SOURCE_DIR}")
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

# What a user types; needs no GPU.
if(TARGET perfgate)
  set(gemm_suite "${PROJECT_SOURCE_DIR}/suites/gemm.yaml")
  file(GLOB suites CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/suites/*.yaml")
  add_test(NAME verb_validate COMMAND perfgate validate ${suites})
  set_tests_properties(verb_validate PROPERTIES TIMEOUT 60
    PASS_REGULAR_EXPRESSION
    "gemm\\.yaml: ok, [0-9]+ cases \\([0-9]+ cuda, [0-9]+ host\\).*transpose\\.yaml: ok")
  add_test(NAME verb_validate_tells_every_problem
    COMMAND perfgate validate "${PROJECT_SOURCE_DIR}/configs/ci.yaml")
  set_tests_properties(verb_validate_tells_every_problem PROPERTIES TIMEOUT 60
    PASS_REGULAR_EXPRESSION
    "perfgate: [^\n]*ci\\.yaml:5:1: a suite has no 'name'.*\nperfgate: [^\n]*ci\\.yaml:5:1: unknown key 'backend'")
  add_test(NAME verb_list
    COMMAND perfgate list "${gemm_suite}" --backend host --filter "*n=517]")
  set_tests_properties(verb_list PROPERTIES TIMEOUT 60
    PASS_REGULAR_EXPRESSION
    "gemm/reference\\[dtype=f32,k=129,m=1023,n=517\\]  host  #1   host\n\n#1  gates: host_time \\(50 %\\)")
  add_test(NAME verb_list_json
    COMMAND perfgate list "${gemm_suite}" --tag host --report json:-)
  set_tests_properties(verb_list_json PROPERTIES TIMEOUT 60
    PASS_REGULAR_EXPRESSION
    "\"schema\": \"perfgate.list\".*\"partial\": true.*\"id\":\"gemm/reference\\[dtype=f32,k=64,m=32,n=16\\]\"")
  # Exit codes: add_test takes any but 0 for the failure that WILL_FAIL expects.
  add_test(NAME verb_list_refuses_an_empty_selection
    COMMAND perfgate list "${gemm_suite}" --filter "nothing/*")
  set_tests_properties(verb_list_refuses_an_empty_selection PROPERTIES TIMEOUT 60 WILL_FAIL ON)
endif()
