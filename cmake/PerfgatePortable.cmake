# SPDX-License-Identifier: Apache-2.0
# PERFGATE_PORTABLE, for ci/release: a tree that needs only glibc, and libgcc_s, which glibc itself needs,
# of the machine that it runs on. Every other library, the C++ library included, is linked statically,
# from Debian 12's packages where they have a static library and else from Debian's sources, whose sums
# are here.
include(FetchContent)

function(perfgate_static_library target file header)
  find_library(PERFGATE_STATIC_${file} "lib${file}.a" REQUIRED)
  find_path(PERFGATE_HEADERS_${file} "${header}" REQUIRED)
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION "${PERFGATE_STATIC_${file}}"
    INTERFACE_INCLUDE_DIRECTORIES "${PERFGATE_HEADERS_${file}}")
endfunction()

# perfgate_from_source(<name> <sum> <address> HEADERS folder SOURCES files...)
function(perfgate_from_source name sum address)
  cmake_parse_arguments(FROM "" "HEADERS" "SOURCES" ${ARGN})
  FetchContent_Declare(perfgate_${name} URL "${address}" URL_HASH "SHA256=${sum}"
    DOWNLOAD_EXTRACT_TIMESTAMP OFF)
  FetchContent_Populate(perfgate_${name})
  list(TRANSFORM FROM_SOURCES PREPEND "${perfgate_${name}_SOURCE_DIR}/")
  add_library(portable_${name} STATIC ${FROM_SOURCES})
  add_library(${name}::${name} ALIAS portable_${name})
  target_include_directories(portable_${name} SYSTEM PUBLIC
    "${perfgate_${name}_SOURCE_DIR}/${FROM_HEADERS}")
endfunction()

perfgate_static_library(yaml-cpp::yaml-cpp yaml-cpp yaml-cpp/yaml.h)
perfgate_static_library(re2::re2 re2 re2/re2.h)
perfgate_static_library(pugixml::pugixml pugixml pugixml.hpp)
perfgate_static_library(SQLite::SQLite3 sqlite3 sqlite3.h)
set_property(TARGET SQLite::SQLite3 PROPERTY INTERFACE_LINK_LIBRARIES "m;${CMAKE_DL_LIBS}")

perfgate_from_source(fmt
  84ce1c2d0be3a9863935137969dcec6970125caac032f82474640bfc81463583
  "https://deb.debian.org/debian/pool/main/f/fmtlib/fmtlib_9.1.0+ds1.orig.tar.gz"
  HEADERS include SOURCES src/format.cc src/os.cc)
add_library(portable_fmt_header_only INTERFACE)
add_library(fmt::fmt-header-only ALIAS portable_fmt_header_only)
target_compile_definitions(portable_fmt_header_only INTERFACE FMT_HEADER_ONLY=1)
target_include_directories(portable_fmt_header_only SYSTEM INTERFACE
  "${perfgate_fmt_SOURCE_DIR}/include")

perfgate_from_source(simdjson
  156b1bc5eb0561b2bd166b46d191fd3d95a3e709cc63761477d3b7aec2b6e9ed
  "https://deb.debian.org/debian/pool/main/s/simdjson/simdjson_3.0.1.orig.tar.gz"
  HEADERS singleheader SOURCES singleheader/simdjson.cpp)

# A plugin may bring a newer C++ library. It keeps to itself, as this one does: nothing of a static
# library is visible outside the file that it is in. Exceptions leave the CUDA backend, so there must be
# one unwinder: libgcc_s is not static. What the headers of the C++ library instantiate in a module
# is not visible either; the injection library has its own list.
set(exports "${CMAKE_CURRENT_LIST_DIR}/portable/exports.map")
set(module "$<STREQUAL:$<TARGET_PROPERTY:TYPE>,MODULE_LIBRARY>")
set(injection "$<STREQUAL:$<TARGET_PROPERTY:NAME>,perfgate_injection>")
add_link_options(-static-libstdc++ "LINKER:--exclude-libs,ALL"
  "$<$<AND:${module},$<NOT:${injection}>>:LINKER:--version-script,${exports}>")

add_library(portable_arc4random STATIC "${CMAKE_CURRENT_LIST_DIR}/portable/arc4random.cpp")
link_libraries(portable_arc4random)
add_link_options("LINKER:--undefined=arc4random")

# What was linked into each file, for the bill of materials (ci/bom.py).
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/linked")
add_link_options("LINKER:--dependency-file,${PROJECT_BINARY_DIR}/linked/$<TARGET_PROPERTY:NAME>.d")

set(CMAKE_INSTALL_RPATH_USE_LINK_PATH OFF)

# The same bytes from any folder.
foreach(language CXX CUDA)
  set(map "$<$<STREQUAL:${language},CUDA>:-Xcompiler=>-ffile-prefix-map")
  foreach(folder "${PROJECT_SOURCE_DIR}=." "${PROJECT_BINARY_DIR}=build")
    add_compile_options("$<$<COMPILE_LANGUAGE:${language}>:${map}=${folder}>")
  endforeach()
endforeach()

# perfgate_stable_names(<folder>): nvcc puts a hash of each source's absolute path into the names of
# its internal symbols; here of the path in this repository.
function(perfgate_stable_names folder)
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.cu$")
    foreach(source IN LISTS sources)
      get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${folder}")
      file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${source}")
      set_property(SOURCE "${source}" DIRECTORY "${folder}" APPEND PROPERTY
        COMPILE_OPTIONS "-frandom-seed=${name}" "-Xcudafe=--orig_src_path_name=${name}")
    endforeach()
  endforeach()
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(each IN LISTS folders)
    perfgate_stable_names("${each}")
  endforeach()
endfunction()
