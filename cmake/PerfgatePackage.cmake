# SPDX-License-Identifier: Apache-2.0
# Installing, and the archive (cpack) that runs from any folder: libraries that a fresh system lacks
# travel in lib/, and every file finds the others relative to itself.
install(TARGETS perfgate
  RUNTIME_DEPENDENCY_SET perfgate_runtime
  RUNTIME DESTINATION bin)
install(RUNTIME_DEPENDENCY_SET perfgate_runtime
  PRE_INCLUDE_REGEXES "libyaml-cpp" "libfmt" "libpugixml" "libsimdjson" "libsqlite3"
  "libre2" "libabsl"
  PRE_EXCLUDE_REGEXES ".*"
  DESTINATION lib)
install(DIRECTORY suites configs harness/runner/templates harness/runner/pipelines DESTINATION share/perfgate)
install(FILES "${PERFGATE_DEMO}/head.run.json" "${PERFGATE_DEMO}/code.json" DESTINATION share/perfgate/demo)
install(DIRECTORY "${PERFGATE_DEMO}/baselines" DESTINATION share/perfgate/demo)
foreach(pages man bash-completion zsh fish)
  install(DIRECTORY "${CMAKE_BINARY_DIR}/share/${pages}" DESTINATION share)
endforeach()
install(FILES LICENSE README.md DESTINATION share/perfgate)
# For workflows of an archive that is published nowhere, and to copy from.
install(DIRECTORY ci/action ci/setup DESTINATION share/perfgate/ci USE_SOURCE_PERMISSIONS)
install(FILES ci/workflows/base-head.yml ci/workflows/matrix.yml DESTINATION share/perfgate/ci/workflows)

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME perfgate)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_FILE_NAME "perfgate-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_STRIP_FILES ON)
include(CPack)
