# SPDX-License-Identifier: Apache-2.0
perfgate_test(render_backward_test
  SOURCES unit/render_backward_test.cpp
  LIBRARIES render_backward_host)
