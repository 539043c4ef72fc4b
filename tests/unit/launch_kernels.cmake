# SPDX-License-Identifier: Apache-2.0
perfgate_test(launch_test
  SOURCES unit/launch_reference_test.cpp
  LIBRARIES launch_host)
