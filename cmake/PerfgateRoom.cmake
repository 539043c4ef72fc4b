# SPDX-License-Identifier: Apache-2.0
# perfgate_room(<name> SOURCES ... [DEPENDS rooms...] [LIBRARIES targets...])
# One static library per room of harness/README.md: a room can include only what it links, so the
# arrows of the design are the link lines. Libraries stay private: no room's header needs them.
function(perfgate_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  add_library(perfgate_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(perfgate_${name} PUBLIC "${PROJECT_SOURCE_DIR}/harness")
  foreach(dependency IN LISTS ROOM_DEPENDS)
    target_link_libraries(perfgate_${name} PUBLIC perfgate_${dependency})
  endforeach()
  target_link_libraries(perfgate_${name} PRIVATE ${ROOM_LIBRARIES})
  perfgate_warnings(perfgate_${name})
endfunction()
