// SPDX-License-Identifier: Apache-2.0
#include "kinds/benchmark/formats/json_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "util/error.hpp"
#include "util/number.hpp"
#include "util/text.hpp"

namespace perfgate::benchmark {

namespace {

using document::JsonKind;
using document::JsonValue;

constexpr std::size_t longest_path = 256;

[[noreturn]] void refuse(std::string_view text) {
    throw util::InputError(
        fmt::format("'{}' is no path into JSON; expected a JSON pointer such as /results/*/time",
                    util::printable(text, 80)));
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
