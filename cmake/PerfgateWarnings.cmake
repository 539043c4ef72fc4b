# SPDX-License-Identifier: Apache-2.0
# perfgate_warnings(<target>): the warnings every target of ours is compiled with.
function(perfgate_warnings target)
  set(host -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND host -Wno-restrict) # false alarms on "text" + std::string at -O3 (GCC bug 105651)
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${host}>")
  string(REPLACE ";" "," nvcc_host "-Wall;-Wextra;-Wno-unused-parameter")
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=${nvcc_host}>")
  if(PERFGATE_WERROR)
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:-Werror>"
      "$<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings>")
  endif()
endfunction()
