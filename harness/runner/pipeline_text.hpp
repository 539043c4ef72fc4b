// SPDX-License-Identifier: Apache-2.0
// Fills in the templates of pipelines: text with placeholders such as @config@.
#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace perfgate::runner {

using Values = std::map<std::string, std::string>;
using Lookup = std::function<std::string(std::string_view name)>;

/// Calls `each` with every line, without its end.
template <class Each>
void for_lines(std::string_view text, const Each& each) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        each(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

/// The text with its placeholders (@name@) replaced. One that is alone in its line stands for
/// lines, which are indented as it is; if there are none, the line is left out.
std::string filled(std::string_view text, const Lookup& value);

std::string read_template(const std::filesystem::path& path);

/// A value, or a fragment that is filled in itself. With `escapes_shell` a fragment is part of a
/// text of Groovy between three quotes.
Lookup lookup(const Values& values, bool escapes_shell);

}  // namespace perfgate::runner
