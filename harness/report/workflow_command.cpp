// SPDX-License-Identifier: Apache-2.0
#include "report/workflow_command.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "report/plain_text.hpp"
#include "report/summary.hpp"

namespace perfgate::report {

namespace {

/// As the runner's own toolkit escapes a property, and what follows the second "::".
constexpr std::pair<char, std::string_view> in_property[] = {
    {'%', "%25"}, {'\r', "%0D"}, {'\n', "%0A"}, {':', "%3A"}, {',', "%2C"}};
constexpr std::span<const std::pair<char, std::string_view>> in_message(in_property, 3);

}  // namespace

std::string workflow_command(std::string_view kind, const model::SourcePlace& place,
                             std::string_view title, std::string_view message) {
    std::string properties;
    const std::string file = plain_line(place.file, longest_line);
    if (!file.empty()) {
        properties = "file=" + replaced(file, in_property) + ',';
        if (place.line > 0) properties += fmt::format("line={},", place.line);
    }
    return fmt::format("::{} {}title={}::{}\n", kind, properties, replaced(title, in_property),
                       replaced(message, in_message));
}

}  // namespace perfgate::report
