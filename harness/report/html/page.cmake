# SPDX-License-Identifier: Apache-2.0
# The page of the HTML report, which npm makes in the build folder; html_page.cpp takes it into the
# binary. Without npm it is empty, and perfgate has no --html.
set(PERFGATE_HTML AUTO CACHE STRING "The HTML report: ON, OFF, or AUTO, which does without where npm does not work")
find_program(PERFGATE_NPM npm)
set(html_source "${CMAKE_CURRENT_SOURCE_DIR}/html")
set(html_page "${CMAKE_CURRENT_BINARY_DIR}/report.html")

if(PERFGATE_HTML STREQUAL "OFF" OR (NOT PERFGATE_NPM AND NOT PERFGATE_HTML STREQUAL "ON"))
  message(STATUS "perfgate: no npm, or PERFGATE_HTML is OFF: the HTML report is left out")
  file(WRITE "${html_page}" "")
else()
  if(NOT PERFGATE_NPM)
    message(FATAL_ERROR "perfgate: PERFGATE_HTML is ON and there is no npm; install npm, or configure with -DPERFGATE_HTML=AUTO")
  endif()
  # Configuring again tries again.
  if(EXISTS "${html_page}")
    file(SIZE "${html_page}" html_size)
    if(html_size EQUAL 0)
      file(REMOVE "${html_page}")
    endif()
  endif()
  file(GLOB html_files CONFIGURE_DEPENDS "${html_source}/*.json" "${html_source}/*.ts"
    "${html_source}/*.html" "${html_source}/src/*")
  add_custom_command(OUTPUT "${html_page}"
    COMMAND "${CMAKE_COMMAND}" "-DNPM=${PERFGATE_NPM}" "-DSOURCE=${html_source}"
      "-DWORK=${CMAKE_CURRENT_BINARY_DIR}/html" "-DPAGE=${html_page}" "-DWANTED=${PERFGATE_HTML}"
      -P "${html_source}/make_page.cmake"
    DEPENDS ${html_files} "${html_source}/make_page.cmake"
    COMMENT "Building the page of the HTML report"
    VERBATIM)
endif()
set_source_files_properties(html_page.cpp PROPERTIES
  OBJECT_DEPENDS "${html_page}"
  COMPILE_DEFINITIONS "PERFGATE_HTML_PAGE=\"${html_page}\"")
