// SPDX-License-Identifier: Apache-2.0
#include "report/workflow_command.hpp"

#include <fmt/format.h>

#include "report/formats.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"

namespace perfgate::report {

namespace {

/// As the runner's own toolkit escapes what follows the second "::".
std::string message_text(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '%') {
            out += "%25";
        } else if (c == '\r') {
            out += "%0D";
        } else if (c == '\n') {
            out += "%0A";
        } else {
            out += c;
        }
    }
    return out;
}

/// The same for a property, which also ends at ',' or ':'.
std::string property_text(std::string_view text) {
    std::string out;
    for (const char c : message_text(text)) {
        if (c == ':') {
            out += "%3A";
        } else if (c == ',') {
            out += "%2C";
        } else {
            out += c;
        }
    }
    return out;
}

}  // namespace

std::string workflow_command(std::string_view kind, const model::SourcePlace& place,
                             std::string_view title, std::string_view message) {
    std::string properties;
    const std::string file = plain_line(place.file, longest_line);
    if (!file.empty()) {
        properties = "file=" + property_text(file) + ',';
        if (place.line > 0) properties += fmt::format("line={},", place.line);
    }
    return fmt::format("::{} {}title={}::{}\n", kind, properties, property_text(title),
                       message_text(message));
}

}  // namespace perfgate::report
