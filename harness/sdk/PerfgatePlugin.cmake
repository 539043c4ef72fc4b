# SPDX-License-Identifier: Apache-2.0
# perfgate_plugin(<name> SOURCES files... [CUDA_SOURCES files...] [LIBRARIES targets...]
#                 [CUDA_ARCHITECTURES architectures...])
#
# Makes <name>.so, as `perfgate run --plugin` loads it.
#   One file:    SOURCES has .cu files, and <name>.so has all variants.
#   Two modules: SOURCES has none. <name>.so describes the workloads and has the host variants; it
#                loads on machines without CUDA. <name>_cuda.so is made of CUDA_SOURCES; where CUDA is
#                not enabled, a warning says that it is left out.
# CUDA needs `project(... LANGUAGES CXX CUDA)` or enable_language(CUDA).
# Architectures: the argument, else PERFGATE_CUDA_ARCHITECTURES, else CMAKE_CUDA_ARCHITECTURES if it
# is not the compiler's default, else all major ones.
# Without a build type, plugins are optimised all the same. LIBRARIES are linked to both modules.

function(_perfgate_plugin_module module)
  cmake_parse_arguments(PARSE_ARGV 1 MODULE "" "" "SOURCES;LIBRARIES;ARCHITECTURES")
  add_library(${module} MODULE ${MODULE_SOURCES})
  target_link_libraries(${module} PRIVATE perfgate::sdk ${MODULE_LIBRARIES})
  set_target_properties(${module} PROPERTIES PREFIX "" SUFFIX ".so"
    CXX_VISIBILITY_PRESET hidden CUDA_VISIBILITY_PRESET hidden)
  if(NOT CMAKE_CXX_STANDARD)
    set_target_properties(${module} PROPERTIES CXX_STANDARD 20)
  endif()
  target_compile_options(${module} PRIVATE
    "$<$<AND:$<CONFIG:>,$<COMPILE_LANGUAGE:CXX,CUDA>>:-O3>"
    "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>")
  if(MODULE_ARCHITECTURES)
    set_target_properties(${module} PROPERTIES CUDA_ARCHITECTURES "${MODULE_ARCHITECTURES}")
    # Not CUDA_STANDARD: CMake before 3.26 does not know that compilers from 12.0 on have C++20.
    if(NOT CMAKE_CUDA_STANDARD)
      target_compile_options(${module} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>")
    endif()
    target_include_directories(${module} SYSTEM PRIVATE
      "${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES}")
  endif()
endfunction()

function(perfgate_plugin name)
  cmake_parse_arguments(PARSE_ARGV 1 PLUGIN "" ""
    "SOURCES;CUDA_SOURCES;LIBRARIES;CUDA_ARCHITECTURES")
  if(NOT name MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "perfgate_plugin: '${name}' is not a valid name ([a-z][a-z0-9_]*)")
  endif()
  if(PLUGIN_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "perfgate_plugin(${name}): '${PLUGIN_UNPARSED_ARGUMENTS}' is after no keyword")
  endif()
  if(NOT PLUGIN_SOURCES)
    message(FATAL_ERROR "perfgate_plugin(${name}): SOURCES is missing")
  endif()

  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(architectures ${PLUGIN_CUDA_ARCHITECTURES})
  if(NOT architectures)
    set(architectures ${PERFGATE_CUDA_ARCHITECTURES})
  endif()
  # 52 and 75 are what compilers build for if nobody says what for.
  if(NOT architectures AND CMAKE_CUDA_ARCHITECTURES
     AND NOT CMAKE_CUDA_ARCHITECTURES MATCHES "^(52|75)$")
    set(architectures ${CMAKE_CUDA_ARCHITECTURES})
  endif()
  if(NOT architectures)
    set(architectures all-major)
  endif()

  set(one_file ${PLUGIN_SOURCES})
  list(FILTER one_file INCLUDE REGEX "\\.cu$")
  if(one_file AND NOT "CUDA" IN_LIST languages)
    message(FATAL_ERROR "perfgate_plugin(${name}): ${one_file} needs a CUDA compiler: name CUDA in "
      "project(), and set CUDACXX if nvcc is not on the PATH")
  endif()
  if(one_file AND PLUGIN_CUDA_SOURCES)
    message(FATAL_ERROR "perfgate_plugin(${name}): with CUDA_SOURCES, .cu files belong there, and "
      "SOURCES must build without CUDA: ${one_file}")
  endif()

  if(one_file)
    _perfgate_plugin_module(${name} SOURCES ${PLUGIN_SOURCES} LIBRARIES ${PLUGIN_LIBRARIES}
      ARCHITECTURES ${architectures})
    return()
  endif()
  _perfgate_plugin_module(${name} SOURCES ${PLUGIN_SOURCES} LIBRARIES ${PLUGIN_LIBRARIES})
  if(PLUGIN_CUDA_SOURCES AND "CUDA" IN_LIST languages)
    _perfgate_plugin_module(${name}_cuda SOURCES ${PLUGIN_CUDA_SOURCES}
      LIBRARIES ${PLUGIN_LIBRARIES} ARCHITECTURES ${architectures})
  elseif(PLUGIN_CUDA_SOURCES)
    message(WARNING "perfgate_plugin(${name}): ${name}_cuda.so is not built: CUDA is not "
      "enabled in this project")
  endif()
endfunction()
