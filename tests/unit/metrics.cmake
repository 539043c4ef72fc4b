# SPDX-License-Identifier: Apache-2.0
perfgate_test(metrics_test
  SOURCES unit/metric_catalogue_test.cpp unit/metric_documentation_test.cpp unit/metric_evaluate_test.cpp
  LIBRARIES perfgate_metrics)
target_compile_definitions(metrics_test PRIVATE PERFGATE_DOCS="${PROJECT_SOURCE_DIR}/docs")
if(PERFGATE_HAVE_CUDA)
  # CUPTI's Host API answers for every chip without a GPU.
  perfgate_test(metrics_chips_test
    SOURCES unit/metrics_chips_test.cpp
    LIBRARIES perfgate_metrics perfgate_cuda)
endif()
