# SPDX-License-Identifier: Apache-2.0
# Every library is taken from the system where it is installed (Debian 12's and Ubuntu 24.04's
# packages both work) and fetched at a pinned version otherwise.
include(FetchContent)

macro(perfgate_dependency name url)
  if(NOT TARGET ${name}::${name})
    find_package(${name} QUIET)
  endif()
  if(NOT ${name}_FOUND AND NOT TARGET ${name}::${name})
    message(STATUS "perfgate: ${name} is not installed; fetching ${url}")
    FetchContent_Declare(${name} URL "${url}" DOWNLOAD_EXTRACT_TIMESTAMP OFF SYSTEM)
    FetchContent_MakeAvailable(${name})
  endif()
endmacro()

if(PERFGATE_PORTABLE)
  include(PerfgatePortable)
endif()

set(YAML_CPP_BUILD_TESTS OFF CACHE INTERNAL "")
set(YAML_CPP_BUILD_TOOLS OFF CACHE INTERNAL "")
set(JSON_BuildTests OFF CACHE INTERNAL "")
set(CLI11_BUILD_TESTS OFF CACHE INTERNAL "")
set(CLI11_BUILD_EXAMPLES OFF CACHE INTERNAL "")
set(INSTALL_GTEST OFF CACHE INTERNAL "")

perfgate_dependency(nlohmann_json
  "https://github.com/nlohmann/json/releases/download/v3.11.3/json.tar.xz")
perfgate_dependency(simdjson
  "https://github.com/simdjson/simdjson/archive/refs/tags/v3.6.4.tar.gz")
perfgate_dependency(yaml-cpp
  "https://github.com/jbeder/yaml-cpp/archive/refs/tags/0.8.0.tar.gz")
perfgate_dependency(CLI11
  "https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.4.2.tar.gz")
perfgate_dependency(fmt
  "https://github.com/fmtlib/fmt/archive/refs/tags/10.2.1.tar.gz")
perfgate_dependency(pugixml
  "https://github.com/zeux/pugixml/archive/refs/tags/v1.14.tar.gz")
# Distributions that have RE2 without its CMake package have a static library that needs no other.
find_package(re2 CONFIG QUIET)
if(NOT TARGET re2::re2)
  find_library(PERFGATE_RE2 "libre2.a")
  find_path(PERFGATE_RE2_HEADERS "re2/re2.h")
  if(PERFGATE_RE2 AND PERFGATE_RE2_HEADERS)
    add_library(re2::re2 STATIC IMPORTED GLOBAL)
    set_target_properties(re2::re2 PROPERTIES IMPORTED_LOCATION "${PERFGATE_RE2}"
      INTERFACE_INCLUDE_DIRECTORIES "${PERFGATE_RE2_HEADERS}")
  else()
    set(RE2_BUILD_TESTING OFF CACHE INTERNAL "")
    perfgate_dependency(re2 "https://github.com/google/re2/archive/refs/tags/2022-06-01.tar.gz")
  endif()
endif()
if(PERFGATE_TESTS)
  perfgate_dependency(GTest
    "https://github.com/google/googletest/archive/refs/tags/v1.14.0.tar.gz")
endif()

# yaml-cpp 0.7 exports the target without a namespace, 0.8 with one.
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
find_package(Boost 1.74 REQUIRED)
find_package(Threads REQUIRED)
# Static: the injection library brings it into programs that may have another one.
set(ZLIB_USE_STATIC_LIBS ON)
find_package(ZLIB REQUIRED)
if(NOT TARGET SQLite::SQLite3)
  find_package(SQLite3 3.34 REQUIRED)
endif()
