# SPDX-License-Identifier: Apache-2.0
# Most sources include these headers, so they are compiled once for all rooms. Sources include what
# they use all the same: ci/dev builds without precompiled headers.
set(perfgate_frequent_headers
  <algorithm> <cmath> <cstdint> <filesystem> <fstream> <functional> <map> <memory> <optional> <set>
  <span> <string> <string_view> <utility> <vector>)
file(WRITE "${CMAKE_BINARY_DIR}/precompiled.cpp" "")
add_library(perfgate_precompiled STATIC "${CMAKE_BINARY_DIR}/precompiled.cpp")
target_link_libraries(perfgate_precompiled PRIVATE fmt::fmt)
target_precompile_headers(perfgate_precompiled PRIVATE ${perfgate_frequent_headers}
  <fmt/format.h> <fmt/ranges.h>)

# perfgate_unity(<target>): for targets of many small sources, which are compiled as one: headers are read and templates
# instantiated once, which takes a third less than units of a dozen do. They share their anonymous namespace: what two of them
# define belongs in a header.
function(perfgate_unity target)
  if(PERFGATE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  endif()
endfunction()

# perfgate_room(<name> [SOURCES ...] [DEPENDS rooms...] [LIBRARIES targets...] [UNITY [SEPARATE sources...]])
# One static library per room of harness/README.md: a room can include only what it links, so the
# arrows of the design are the link lines. Libraries stay private: no room's header needs them. Without SOURCES it has
# all of its folder. The sources of a room with
# UNITY are compiled as one, those with names that others have for something else SEPARATE. Rooms of which
# recorded programs have a part have no UNITY: each program takes the sources that it uses and no more.
function(perfgate_room name)
  cmake_parse_arguments(ROOM "UNITY" "" "SOURCES;DEPENDS;LIBRARIES;SEPARATE" ${ARGN})
  if(NOT ROOM_SOURCES)
    file(GLOB ROOM_SOURCES CONFIGURE_DEPENDS "*.cpp")
  endif()
  add_library(perfgate_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(perfgate_${name} PUBLIC "${PROJECT_SOURCE_DIR}/harness")
  # Errors are formatted by it (util/error.hpp).
  target_include_directories(perfgate_${name} SYSTEM PUBLIC
    $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
  foreach(dependency IN LISTS ROOM_DEPENDS)
    target_link_libraries(perfgate_${name} PUBLIC perfgate_${dependency})
  endforeach()
  target_link_libraries(perfgate_${name} PRIVATE ${ROOM_LIBRARIES})
  perfgate_warnings(perfgate_${name})
  if(ROOM_UNITY)
    perfgate_unity(perfgate_${name})
    set_source_files_properties(${ROOM_SEPARATE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  # A precompiled header serves those that see its macros as it was compiled, here fmt's.
  if("fmt::fmt" IN_LIST ROOM_LIBRARIES)
    target_precompile_headers(perfgate_${name} REUSE_FROM perfgate_precompiled)
  endif()
endfunction()
