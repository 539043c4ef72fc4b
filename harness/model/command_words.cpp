// SPDX-License-Identifier: Apache-2.0
#include "model/command_words.hpp"

#include <algorithm>

namespace perfgate::model {

bool is_identifier(std::string_view text) {
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !text.empty() && letter(text[0]) &&
           std::ranges::all_of(text, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

std::string with_parameters(std::string_view word,
                            const std::function<std::string(const std::string& name)>& value_of) {
    std::string result;
    while (!word.empty()) {
        const std::size_t open = word.find('{');
        result += word.substr(0, open);
        if (open == std::string_view::npos) break;
        word.remove_prefix(open);
        const std::size_t close = word.find_first_of("{}", 1);
        const bool closed = close != std::string_view::npos && word[close] == '}';
        const std::string_view name = closed ? word.substr(1, close - 1) : std::string_view{};
        if (!is_identifier(name)) {
            result += '{';
            word.remove_prefix(1);
            continue;
        }
        result += value_of(std::string(name));
        word.remove_prefix(close + 1);
    }
    return result;
}

bool has_parameter(std::string_view word) {
    bool found = false;
    with_parameters(word, [&](const std::string&) {
        found = true;
        return std::string();
    });
    return found;
}

}  // namespace perfgate::model
