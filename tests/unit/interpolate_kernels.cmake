# SPDX-License-Identifier: Apache-2.0
perfgate_test(interpolate_test SOURCES unit/interpolate_test.cpp LIBRARIES interpolate_host)
