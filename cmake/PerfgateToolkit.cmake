# SPDX-License-Identifier: Apache-2.0
# Finds the CUDA toolkit. Without one everything that needs none is still built.
set(PERFGATE_HAVE_CUDA OFF)
if(PERFGATE_CUDA)
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS "/usr/local/cuda/bin/nvcc")
    set(CMAKE_CUDA_COMPILER "/usr/local/cuda/bin/nvcc")
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_ARCHITECTURES ${PERFGATE_CUDA_ARCHITECTURES})
    enable_language(CUDA)
    # Not C++20: with it, the headers of the C++ library take nvcc half as long again.
    set(CMAKE_CUDA_STANDARD 17)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
    find_package(CUDAToolkit 13.0 QUIET)
    if(CUDAToolkit_FOUND)
      set(PERFGATE_HAVE_CUDA ON)
      find_path(PERFGATE_CUPTI_INCLUDE_DIR cupti_range_profiler.h
        HINTS ${CUDAToolkit_INCLUDE_DIRS}
              "${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/include"
              "${CUDAToolkit_TARGET_DIR}/../../extras/CUPTI/include")
      find_library(PERFGATE_CUPTI_LIBRARY cupti
        HINTS "${CUDAToolkit_LIBRARY_DIR}"
              "${CUDAToolkit_LIBRARY_ROOT}/extras/CUPTI/lib64"
              "${CUDAToolkit_TARGET_DIR}/../../extras/CUPTI/lib64")
    endif()
  endif()
endif()
if(PERFGATE_HAVE_CUDA)
  message(STATUS "perfgate: CUDA toolkit ${CUDAToolkit_VERSION}, kernels for ${PERFGATE_CUDA_ARCHITECTURES}")
  if(NOT PERFGATE_CUPTI_INCLUDE_DIR OR NOT PERFGATE_CUPTI_LIBRARY)
    message(FATAL_ERROR "perfgate: the CUDA toolkit has no CUPTI; install cuda-cupti-dev, or configure with -DPERFGATE_CUDA=OFF")
  endif()
else()
  message(STATUS "perfgate: no CUDA toolkit (nvcc >= 13.0): building without the CUDA backend and the CUDA kernels")
endif()
