// SPDX-License-Identifier: Apache-2.0
#include "cli/run_file.hpp"

#include <string>

#include "model/file.hpp"

namespace perfgate::cli {

model::Run read_run(const std::filesystem::path& file) {
    return model::parse_run(model::read_file(file, run_limit_bytes, "run"), file.string());
}

}  // namespace perfgate::cli
