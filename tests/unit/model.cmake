# SPDX-License-Identifier: Apache-2.0
perfgate_test(model_test
  SOURCES unit/case_test.cpp unit/choices_test.cpp unit/command_words_test.cpp unit/communication_kernel_test.cpp unit/date_test.cpp unit/dimension_test.cpp unit/energy_counter_test.cpp unit/file_test.cpp unit/folder_test.cpp unit/interval_test.cpp unit/kernel_name_test.cpp unit/measured_as_test.cpp unit/metric_test.cpp unit/other_work_test.cpp unit/process_list_test.cpp
          unit/roofline_test.cpp unit/sha256_test.cpp unit/source_place_test.cpp unit/text_test.cpp unit/tolerance_test.cpp
          unit/verdict_test.cpp
  LIBRARIES "perfgate_model;fmt::fmt")
