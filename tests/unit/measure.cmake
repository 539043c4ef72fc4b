# SPDX-License-Identifier: Apache-2.0
perfgate_test(measure_test
  SOURCES unit/device_lock_test.cpp unit/journal_test.cpp unit/protocol_test.cpp
          unit/sampling_test.cpp unit/steadiness_test.cpp unit/worker_process_test.cpp
  LIBRARIES perfgate_measure)
