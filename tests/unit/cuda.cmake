# SPDX-License-Identifier: Apache-2.0
# What the CUDA backend does without a device.
if(PERFGATE_HAVE_CUDA)
  # Builds of cubin_kernels.cu, to compare their machine code, and of line_kernels.cu.
  set(cubin_dir "${CMAKE_CURRENT_BINARY_DIR}/cubins")
  file(MAKE_DIRECTORY "${cubin_dir}")
  set(cubins)
  set(cubin_source cubin_kernels.cu)
  function(perfgate_test_cubin name)
    add_custom_command(OUTPUT "${cubin_dir}/${name}.cubin"
      COMMAND ${CMAKE_CUDA_COMPILER} -cubin -arch=sm_90 -std=c++20 ${ARGN}
              -o "${cubin_dir}/${name}.cubin" "${CMAKE_CURRENT_SOURCE_DIR}/unit/${cubin_source}"
      DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/unit/${cubin_source}"
              "${CMAKE_CURRENT_SOURCE_DIR}/unit/line_kernels.cuh" VERBATIM)
    set(cubins ${cubins} "${cubin_dir}/${name}.cubin" PARENT_SCOPE)
  endfunction()
  perfgate_test_cubin(base)
  perfgate_test_cubin(again)
  perfgate_test_cubin(changed -DFACTOR=3)
  perfgate_test_cubin(helper -DHELPER_FACTOR=6)
  perfgate_test_cubin(second -DSECOND_KERNEL)
  perfgate_test_cubin(relocatable_base -rdc=true)
  perfgate_test_cubin(relocatable_helper -rdc=true -DHELPER_FACTOR=6)
  perfgate_test_cubin(relocatable_second -rdc=true -DSECOND_KERNEL)
  set(cubin_source line_kernels.cu)
  perfgate_test_cubin(lines -lineinfo)
  perfgate_test_cubin(relocatable_lines -lineinfo -rdc=true)
  perfgate_test_cubin(debug_lines -G)
  add_custom_target(cuda_test_cubins DEPENDS ${cubins})

  perfgate_test(cuda_test
    SOURCES
      unit/cubin_test.cpp
      unit/cuda_activity_test.cpp
      unit/cuda_board_test.cpp
      unit/cuda_host_evaluator_test.cpp
      unit/cuda_occupancy_test.cpp
      unit/line_table_test.cpp
    LIBRARIES perfgate_cuda ZLIB::ZLIB)
  add_dependencies(cuda_test cuda_test_cubins)
  target_compile_definitions(cuda_test PRIVATE PERFGATE_CUBIN_DIR="${cubin_dir}"
    PERFGATE_CUBIN_SOURCES="${CMAKE_CURRENT_SOURCE_DIR}/unit")
endif()
