# SPDX-License-Identifier: Apache-2.0
# The values of a source's buffers; compiling, which starts the program as its compiler's process.
perfgate_test(source_values_test
  SOURCES unit/source_elements_test.cpp unit/source_npy_test.cpp
  LIBRARIES perfgate_source_values)
perfgate_test(source_test SOURCES unit/source_checks_test.cpp unit/source_compiler_test.cpp LIBRARIES perfgate_source)
add_dependencies(source_test perfgate)
target_compile_definitions(source_test PRIVATE PERFGATE_BINARY="$<TARGET_FILE:perfgate>")
