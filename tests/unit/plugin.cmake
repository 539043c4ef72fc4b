# SPDX-License-Identifier: Apache-2.0
perfgate_test(plugin_libraries_test
  SOURCES unit/plugin_libraries_test.cpp LIBRARIES perfgate_plugin_loader)
add_dependencies(plugin_libraries_test probe_base helped_pinned helped_pageable later_base)
target_compile_definitions(plugin_libraries_test PRIVATE
  PERFGATE_TEST_PLUGINS="${CMAKE_BINARY_DIR}/tests/plugins")
perfgate_test(plugin_verification_test
  SOURCES unit/plugin_verification_test.cpp LIBRARIES perfgate_plugin_loader)
