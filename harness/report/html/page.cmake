# SPDX-License-Identifier: Apache-2.0
# The pages of the HTML reports, which npm builds in the build folder; html_page.cpp embeds them in
# the binary. Without npm they are empty, and perfgate writes no HTML report.
set(PERFGATE_HTML AUTO CACHE STRING "The HTML reports: ON, OFF, or AUTO, which does without where npm does not work")
find_program(PERFGATE_NPM npm)
set(html_source "${CMAKE_CURRENT_SOURCE_DIR}/html")
set(html_pages "${CMAKE_CURRENT_BINARY_DIR}/report.html" "${CMAKE_CURRENT_BINARY_DIR}/profile.html"
  "${CMAKE_CURRENT_BINARY_DIR}/history.html")

if(PERFGATE_HTML STREQUAL "OFF" OR (NOT PERFGATE_NPM AND NOT PERFGATE_HTML STREQUAL "ON"))
  message(STATUS "perfgate: no npm, or PERFGATE_HTML is OFF: the HTML reports are left out")
  foreach(page IN LISTS html_pages)
    file(WRITE "${page}" "")
  endforeach()
else()
  if(NOT PERFGATE_NPM)
    message(FATAL_ERROR "perfgate: PERFGATE_HTML is ON and there is no npm; install npm, or configure with -DPERFGATE_HTML=AUTO")
  endif()
  # The next configuration tries again.
  foreach(page IN LISTS html_pages)
    if(EXISTS "${page}")
      file(SIZE "${page}" html_size)
      if(html_size EQUAL 0)
        file(REMOVE "${page}")
      endif()
    endif()
  endforeach()
  file(GLOB_RECURSE html_files CONFIGURE_DEPENDS "${html_source}/src/*")
  file(GLOB html_roots CONFIGURE_DEPENDS "${html_source}/*.json" "${html_source}/*.mjs" "${html_source}/*.html")
  add_custom_command(OUTPUT ${html_pages}
    COMMAND "${CMAKE_COMMAND}" "-DNPM=${PERFGATE_NPM}" "-DSOURCE=${html_source}"
      "-DWORK=${CMAKE_CURRENT_BINARY_DIR}/html" "-DPAGES=${CMAKE_CURRENT_BINARY_DIR}" "-DWANTED=${PERFGATE_HTML}"
      -P "${html_source}/make_page.cmake"
    DEPENDS ${html_files} ${html_roots} "${html_source}/make_page.cmake"
    COMMENT "Building the pages of the HTML reports"
    VERBATIM)
endif()
set_source_files_properties(html_page.cpp PROPERTIES
  OBJECT_DEPENDS "${html_pages}"
  COMPILE_DEFINITIONS "PERFGATE_HTML_PAGES=\"${CMAKE_CURRENT_BINARY_DIR}\"")
