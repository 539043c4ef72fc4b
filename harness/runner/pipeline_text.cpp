// SPDX-License-Identifier: Apache-2.0
#include "runner/pipeline_text.hpp"

#include <fmt/format.h>

#include <cctype>

#include "runner/installation.hpp"
#include "util/error.hpp"
#include "util/file.hpp"

namespace perfgate::runner {

namespace fs = std::filesystem;

namespace {

bool is_name(char letter) {
    return letter == '_' || (std::islower(static_cast<unsigned char>(letter)) != 0);
}

/// The placeholder that begins at `at`; empty: none does.
std::string_view placeholder(std::string_view text, std::size_t at) {
    if (text[at] != '@') return {};
    std::size_t end = at + 1;
    while (end < text.size() && is_name(text[end])) ++end;
    if (end == at + 1 || end == text.size() || text[end] != '@') return {};
    return text.substr(at + 1, end - at - 1);
}

std::string filled_line(std::string_view line, const Lookup& value) {
    std::string text;
    for (std::size_t at = 0; at < line.size();) {
        const std::string_view name = placeholder(line, at);
        if (name.empty()) {
            text += line[at++];
        } else {
            text += value(name);
            at += name.size() + 2;
        }
    }
    return text;
}

/// For a text of Groovy between three quotes.
std::string escaped(const std::string& script) {
    std::string text;
    for (const char letter : script) {
        if (letter == '\\' || letter == '\'') text += '\\';
        text += letter;
    }
    return text;
}

}  // namespace

std::string filled(std::string_view text, const Lookup& value) {
    std::string result;
    for_lines(text, [&](std::string_view line) {
        const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
        const std::string_view name =
            indent < line.size() ? placeholder(line, indent) : std::string_view();
        if (name.empty() || indent + name.size() + 2 != line.size()) {
            result += filled_line(line, value) + '\n';
            return;
        }
        for_lines(value(name), [&](std::string_view inner) {
            if (!inner.empty()) result.append(line.substr(0, indent)).append(inner);
            result += '\n';
        });
    });
    return result;
}

std::string read_template(const fs::path& path) {
    if (!fs::exists(path)) {
        throw util::Error(
            fmt::format("the pipelines are not installed: {} is absent; install perfgate again",
                        path.string()));
    }
    return util::read_file(path, template_limit, "template");
}

Lookup lookup(const Values& values, bool escapes_shell) {
    return [&values, escapes_shell](std::string_view name) {
        const auto found = values.find(std::string(name));
        if (found != values.end()) return found->second;
        const std::string text =
            filled(read_template(pipeline_templates() / "fragments" / name), lookup(values, false));
        return escapes_shell ? escaped(text) : text;
    };
}

}  // namespace perfgate::runner
