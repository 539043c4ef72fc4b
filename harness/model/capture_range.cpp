// SPDX-License-Identifier: Apache-2.0
#include "model/capture_range.hpp"

#include <fmt/format.h>

#include "util/text.hpp"

namespace perfgate::model {

std::string in_words(const CaptureRange& capture) {
    std::string words;
    const auto add = [&](const std::string& text) { words += (words.empty() ? "" : ", ") + text; };
    if (capture.profiler_api) add("profiler_api");
    if (capture.after_launches != 0) add(fmt::format("after_launches {}", capture.after_launches));
    if (!capture.range.empty()) add(fmt::format("range '{}'", util::printable(capture.range)));
    return words;
}

}  // namespace perfgate::model
