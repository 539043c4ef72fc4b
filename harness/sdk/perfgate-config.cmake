# SPDX-License-Identifier: Apache-2.0
include("${CMAKE_CURRENT_LIST_DIR}/perfgate-targets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/PerfgatePlugin.cmake")
