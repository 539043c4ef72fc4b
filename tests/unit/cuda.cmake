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
      COMMAND ${CMAKE_CUDA_COMPILER} -cubin -arch=sm_90 ${ARGN}
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
  perfgate_test_cubin(values -DSECOND_KERNEL -DSECOND_TABLE=1)
  perfgate_test_cubin(relocatable_base -rdc=true)
  perfgate_test_cubin(relocatable_helper -rdc=true -DHELPER_FACTOR=6)
  perfgate_test_cubin(relocatable_second -rdc=true -DSECOND_KERNEL)
  set(cubin_source line_kernels.cu)
  perfgate_test_cubin(lines -lineinfo)
  perfgate_test_cubin(relocatable_lines -lineinfo -rdc=true)
  perfgate_test_cubin(debug_lines -G)
  # What the compiler and the linker say of the kernels (-v) is kept, to compare with it.
  function(perfgate_reported_cubin name command)
    add_custom_command(OUTPUT "${cubin_dir}/${name}.cubin" "${cubin_dir}/${name}.report"
      COMMAND sh -c "{ ${command}; } > ${name}.report 2>&1 || { cat ${name}.report; exit 1; }"
      DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/unit/stack_kernels.cu"
      WORKING_DIRECTORY "${cubin_dir}" VERBATIM)
    set(cubins ${cubins} "${cubin_dir}/${name}.cubin" PARENT_SCOPE)
  endfunction()
  set(nvcc "'${CMAKE_CUDA_COMPILER}' -arch=sm_90")
  set(source "'${CMAKE_CURRENT_SOURCE_DIR}/unit/stack_kernels.cu'")
  perfgate_reported_cubin(stack "${nvcc} -cubin -Xptxas -v -o stack.cubin ${source}")
  perfgate_reported_cubin(linked_stack "${nvcc} -dc -o linked_stack.o ${source} && \
${nvcc} -dlink -cubin -Xnvlink -v -o linked_stack.cubin linked_stack.o")
  add_custom_target(cuda_test_cubins DEPENDS ${cubins})

  add_library(mock_nvml SHARED unit/mock_nvml.cpp)
  set_target_properties(mock_nvml PROPERTIES OUTPUT_NAME nvidia-ml SOVERSION 1
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/mock_nvml")

  perfgate_test(cuda_test
    SOURCES
      unit/cubin_test.cpp
      unit/cuda_activity_test.cpp
      unit/cuda_board_test.cpp
      unit/cuda_host_evaluator_test.cpp
      unit/cuda_loaded_code_test.cpp
      unit/cuda_memory_test.cpp
      unit/cuda_occupancy_test.cpp
      unit/cuda_source_code_test.cpp
      unit/instruction_listing_test.cpp
      unit/line_table_test.cpp
      unit/stack_size_test.cpp
    LIBRARIES perfgate_cuda perfgate_source ZLIB::ZLIB)
  add_dependencies(cuda_test cuda_test_cubins mock_nvml perfgate)
  target_compile_definitions(cuda_test PRIVATE PERFGATE_CUBIN_DIR="${cubin_dir}"
    PERFGATE_BINARY="$<TARGET_FILE:perfgate>" PERFGATE_MOCK_NVML="$<TARGET_FILE:mock_nvml>"
    PERFGATE_CUBIN_SOURCES="${CMAKE_CURRENT_SOURCE_DIR}/unit")
endif()
