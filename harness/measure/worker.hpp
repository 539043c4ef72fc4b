// SPDX-License-Identifier: Apache-2.0
// The worker's loop: reads requests, lets the backend do them, writes replies.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "measure/backend.hpp"

namespace perfgate::measure {

/// Where a worker's backend comes from. It is opened when the first request needs it: listing
/// devices opens none of them.
struct BackendSource {
    std::function<std::vector<ListedDevice>(const std::string& wanted)> list;
    using Loading = std::function<void(const std::string& file)>;  ///< as in BackendOptions
    std::function<std::unique_ptr<Backend>(Loading loading)> open;
    /// Loads the plugins ahead of `open`, as LoadPlugins does.
    std::function<bool(Loading loading)> load;
};

/// Serves requests from `requests_fd` until it is closed or the device is lost; writes replies to
/// `replies_fd`. Moves both out of the way of plugins: standard input becomes /dev/null, and what a
/// plugin executes inherits neither. Returns the process's exit code. If the backend cannot be
/// opened, every request that needs it is answered with that failure.
int serve(const BackendSource& source, int requests_fd, int replies_fd);

}  // namespace perfgate::measure
