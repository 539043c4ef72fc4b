// SPDX-License-Identifier: Apache-2.0
#include "runner/distinct_files.hpp"

#include <fmt/format.h>

#include "model/error.hpp"
#include "model/sha256.hpp"
#include "model/text.hpp"

namespace perfgate::runner {

void DistinctFiles::add(const std::string& file, std::string_view content) {
    model::Sha256 sum;
    sum.add(content);
    const auto [first, added] = files_.emplace(sum.fingerprint(), file);
    if (added) return;
    throw model::InputError(fmt::format(
        "{} and {} have the same content, which is one measurement and not two: name each file "
        "once",
        model::printable(first->second), model::printable(file)));
}

}  // namespace perfgate::runner
