# SPDX-License-Identifier: Apache-2.0
# What the CUDA backend does without a device.
if(PERFGATE_HAVE_CUDA)
  find_package(ZLIB REQUIRED)
  perfgate_test(cuda_test
    SOURCES
      unit/cuda_activity_test.cpp
      unit/cuda_board_test.cpp
      unit/cuda_host_evaluator_test.cpp
      unit/cuda_occupancy_test.cpp
    LIBRARIES perfgate_cuda ZLIB::ZLIB)
endif()
