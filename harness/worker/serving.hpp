// SPDX-License-Identifier: Apache-2.0
// What a worker is told on its command line, and serving the coordinator by it: for the binary and
// for the library in a user's interpreter.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "measure/backend.hpp"

namespace perfgate::worker {

struct Options {
    std::string backend = "host";        ///< or "cuda"
    std::filesystem::path cuda_backend;  ///< the shared library of that backend
    measure::BackendOptions of_backend;
};

/// From `--backend NAME --cuda-backend FILE --device ID --plugin FILE… --bundled FILE… --no-cupti`.
/// Throws util::InputError.
Options read_options(const std::vector<std::string>& words);

/// Answers requests on stdin until there are no more; returns the exit code.
int serve(Options options);

}  // namespace perfgate::worker
