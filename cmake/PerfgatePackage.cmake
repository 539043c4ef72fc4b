# SPDX-License-Identifier: Apache-2.0
# Installing, and the archive (cpack) that runs from any folder: libraries that a fresh system lacks
# travel in lib/, and every file finds the others relative to itself.
install(TARGETS perfgate
  RUNTIME_DEPENDENCY_SET perfgate_runtime
  RUNTIME DESTINATION bin)
install(RUNTIME_DEPENDENCY_SET perfgate_runtime
  PRE_INCLUDE_REGEXES "libyaml-cpp" "libfmt" "libpugixml" "libsimdjson" "libsqlite3"
  PRE_EXCLUDE_REGEXES ".*"
  DESTINATION lib)
install(DIRECTORY suites configs DESTINATION share/perfgate)
install(FILES LICENSE README.md DESTINATION share/perfgate)

# The completion scripts, where each shell looks for them below a prefix such as /usr.
foreach(place bash-completion/completions/perfgate zsh/site-functions/_perfgate fish/vendor_completions.d/perfgate.fish)
  string(REGEX MATCH "^(bash|zsh|fish)" shell "${place}")
  set(script "${CMAKE_BINARY_DIR}/share/${place}")
  get_filename_component(folder "${place}" DIRECTORY)
  file(MAKE_DIRECTORY "${CMAKE_BINARY_DIR}/share/${folder}")
  add_custom_command(OUTPUT "${script}" COMMAND perfgate completion ${shell} > "${script}" VERBATIM)
  list(APPEND completion_scripts "${script}")
  install(FILES "${script}" DESTINATION "share/${folder}")
endforeach()
add_custom_target(perfgate_completion ALL DEPENDS ${completion_scripts})

set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_NAME perfgate)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_FILE_NAME "perfgate-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_STRIP_FILES ON)
include(CPack)
