// SPDX-License-Identifier: Apache-2.0
// The worker's loop: reads requests, lets the backend do them, writes replies.
#pragma once

#include "measure/backend.hpp"

namespace perfgate::measure {

/// Serves requests from `requests_fd` until it is closed or the device is lost; writes replies to
/// `replies_fd`. Returns the process's exit code.
int serve(Backend& backend, int requests_fd, int replies_fd);

/// Answers every request with the same failure: the backend could not be made.
int serve_failure(const std::string& message, bool usage, int requests_fd, int replies_fd);

}  // namespace perfgate::measure
