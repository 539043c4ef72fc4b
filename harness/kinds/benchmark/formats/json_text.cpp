// SPDX-License-Identifier: Apache-2.0
#include "kinds/benchmark/formats/json_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <set>
#include <utility>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::benchmark {

namespace {

using document::JsonDocument;
using document::JsonKind;
using document::JsonValue;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::array<std::pair<std::string_view, double>, 3> no_numbers{
    {{"NaN", std::numeric_limits<double>::quiet_NaN()},
     {"Infinity", infinity},
     {"-Infinity", -infinity}}};
constexpr std::string_view spaces = " \t\r\n";

/// Copies a text and mends what is no JSON. What it does not know it leaves as it is, so that the
/// parser refuses it.
class Mended {
  public:
    Mended(std::string_view text, RepeatedKeys repeated)
        : text_(text), rename_(repeated == RepeatedKeys::are_renamed) {}

    std::string take() {
        out_.reserve(text_.size() + 64);
        while (at_ < text_.size()) step();
        return std::move(out_);
    }

  private:
    void step() {
        const char c = text_[at_];
        if (c == '"') return copy_text();
        for (const auto& [word, value] : no_numbers) {
            if (!text_.substr(at_).starts_with(word) || continues(at_ + word.size())) continue;
            out_.append("\"").append(word).append("\"");
            at_ += word.size();
            return;
        }
        // The parser refuses what is nested deeper.
        if (rename_ && c == '{' && keys_.size() < 2 * document::json_depth_limit) {
            keys_.emplace_back();
        }
        if (rename_ && c == '}' && !keys_.empty()) keys_.pop_back();
        out_ += c;
        ++at_;
    }

    [[nodiscard]] bool continues(std::size_t at) const {
        return at < text_.size() &&
               ((text_[at] >= 'a' && text_[at] <= 'z') || (text_[at] >= 'A' && text_[at] <= 'Z'));
    }

    void copy_text() {
        std::size_t end = at_ + 1;
        while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
        end = std::min(end, text_.size());
        const std::string key(text_.substr(at_ + 1, end - at_ - 1));
        out_.append(text_.substr(at_, end - at_));
        const std::size_t after = text_.find_first_not_of(spaces, std::min(end + 1, text_.size()));
        const bool is_key = after != std::string_view::npos && text_[after] == ':';
        if (rename_ && is_key && !keys_.empty() && !keys_.back().insert(key).second) {
            out_.append(again(""));
        }
        if (end < text_.size()) out_ += '"';
        at_ = std::min(end + 1, text_.size());
    }

    std::string_view text_;
    bool rename_;
    std::size_t at_ = 0;
    std::vector<std::set<std::string>> keys_;
    std::string out_;
};

std::string mended(std::string_view text, RepeatedKeys repeated) {
    const bool plain = repeated == RepeatedKeys::are_refused &&
                       text.find("NaN") == std::string_view::npos &&
                       text.find("Infinity") == std::string_view::npos;
    return plain ? std::string(text) : Mended(text, repeated).take();
}

}  // namespace

std::string again(std::string_view key) {
    return std::string(key) + " (again)";
}

JsonDocument parse_json(std::string_view text, std::string_view source, RepeatedKeys repeated) {
    return {mended(text, repeated), source};
}

/// Throws for the first line that is no JSON, with its place in the file.
static void refuse_line(std::string_view text, std::string_view source) {
    for (std::size_t number = 0; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.find_first_not_of(spaces) == std::string_view::npos) continue;
        try {
            parse_json(line, source);
        } catch (const util::InputError&) {
            parse_json(std::string(number, '\n').append(line), source);
        }
    }
}

JsonDocument parse_json_lines(std::string_view text, std::string_view source) {
    const std::string_view lines = text;
    // A comma takes the place of each end of a line, and the line ends after it: lines keep their
    // numbers.
    std::string array = "[";
    bool first = true;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        if (line.find_first_not_of(spaces) != std::string_view::npos) {
            if (!first) array += ',';
            array.append(line);
            first = false;
        }
        if (end < text.size()) array += '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    array += ']';
    try {
        return {mended(array, RepeatedKeys::are_refused), source};
    } catch (const util::InputError&) {
        refuse_line(lines, source);
        throw;
    }
}

bool has_json_lines(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(spaces);
    if (begin == std::string_view::npos || text[begin] != '{') return false;
    const std::size_t end = text.find('\n', begin);
    if (end == std::string_view::npos ||
        text.find_first_not_of(spaces, end) == std::string_view::npos) {
        return false;
    }
    try {
        parse_json(text.substr(begin, end - begin), "line");
    } catch (const util::InputError&) {
        return false;
    }
    return true;
}

double number_of(JsonValue value) {
    if (value.kind() == JsonKind::text) {
        for (const auto& [word, number] : no_numbers) {
            if (value.text() == word) return number;
        }
    }
    return value.number();
}

namespace {

using document::JsonKind;
using document::JsonValue;

constexpr std::size_t longest_path = 256;

[[noreturn]] void refuse(std::string_view text) {
    throw util::InputError(
        "'{}' is no path into JSON; expected a JSON pointer such as /results/*/time",
        util::printable(text, 80));
}

/// ~1 is '/', ~0 is '~'.
std::string unescaped(std::string_view key, std::string_view path) {
    std::string text;
    for (std::size_t i = 0; i < key.size(); ++i) {
        if (key[i] != '~') {
            text += key[i];
        } else if (++i < key.size() && (key[i] == '0' || key[i] == '1')) {
            text += key[i] == '0' ? '~' : '/';
        } else {
            refuse(path);
        }
    }
    return text;
}

}  // namespace

JsonPath::JsonPath(std::string_view text) {
    if (text.size() > longest_path || (!text.empty() && text.front() != '/')) refuse(text);
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('/', begin + 1), text.size());
        const std::string_view key = text.substr(begin + 1, end - begin - 1);
        steps_.push_back({unescaped(key, text), key == "*"});
        begin = end;
    }
}

void JsonPath::each(JsonValue from, const std::function<void(std::string_view, JsonValue)>& visit,
                    const std::function<void(JsonValue)>& missed) const {
    follow(0, "", from, {visit, missed});
}

void JsonPath::follow(std::size_t step, std::string_view key, JsonValue value,
                      const Visit& visit) const {
    if (step == steps_.size()) {
        visit.found(key, value);
        return;
    }
    const Step& here = steps_[step];
    bool followed = here.all;
    if (value.kind() == JsonKind::array) {
        const auto wanted = util::parsed<std::size_t>(here.key);
        std::size_t index = 0;
        if (here.all || wanted) {
            value.elements([&](JsonValue element) {
                if (here.all || index == *wanted) {
                    followed = true;
                    follow(step + 1, key, element, visit);
                }
                ++index;
            });
        }
    } else if (value.kind() == JsonKind::object) {
        if (here.all) {
            value.members([&](std::string_view name, JsonValue member) {
                follow(step + 1, name, member, visit);
            });
        } else if (const auto member = value.find(here.key)) {
            followed = true;
            follow(step + 1, key, *member, visit);
        }
    } else {
        followed = false;
    }
    if (!followed && visit.missed) visit.missed(value);
}

}  // namespace perfgate::benchmark
