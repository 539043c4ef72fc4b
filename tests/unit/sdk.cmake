# SPDX-License-Identifier: Apache-2.0
perfgate_test(sdk_test SOURCES unit/sdk_verify_test.cpp LIBRARIES perfgate_sdk)
