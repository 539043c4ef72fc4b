// SPDX-License-Identifier: Apache-2.0
#include "model/case.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "util/text.hpp"

namespace perfgate::model {

namespace {

/// Characters that cannot be mistaken for the id's own punctuation.
bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-+.:/").find(c) != std::string_view::npos;
}

/// A plain word unchanged, any other text in double quotes: `[a="x,b=1"]` and
/// `[a=x,b=1]` are different cases.
std::string id_text(const std::string& text) {
    if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
    std::string quoted = "\"";
    for (const char c : util::valid_utf8(text)) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return quoted + '"';
}

struct ValueText {
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return util::number_text(value); }
    std::string operator()(const std::string& value) const { return id_text(value); }
};

/// The parameters of an id, as "name=value".
std::vector<std::string_view> params_of(std::string_view id) {
    std::vector<std::string_view> params;
    std::size_t begin = id.find('[') + 1;
    if (begin == 0) return params;
    bool quoted = false;
    for (std::size_t i = begin; i < id.size(); ++i) {
        if (quoted && id[i] == '\\') {
            ++i;
        } else if (id[i] == '"') {
            quoted = !quoted;
        } else if (!quoted && (id[i] == ',' || id[i] == ']')) {
            params.push_back(id.substr(begin, i - begin));
            begin = i + 1;
        }
    }
    return params;
}

}  // namespace

std::string to_text(const ParamValue& value) {
    return std::visit(ValueText{}, value);
}

std::string_view to_text(Cache cache) {
    return util::word_of<Cache::hot>(cache, {"cold", "hot"});
}

std::string case_id(const CaseSpec& spec) {
    std::string id = spec.workload + '/' + spec.variant;
    if (!spec.params.empty()) {
        char separator = '[';
        for (const auto& [name, value] : spec.params) {
            id += separator;
            id += name;
            id += '=';
            id += to_text(value);
            separator = ',';
        }
        id += ']';
    }
    if (spec.cache == Cache::hot) id += "@hot";
    return id;
}

bool has_params(std::string_view id, const Params& params) {
    const std::vector<std::string_view> all = params_of(id);
    return std::ranges::all_of(params, [&](const auto& param) {
        return std::ranges::find(all, param.first + '=' + to_text(param.second)) != all.end();
    });
}

std::string former_id(std::string_view id, std::string_view was) {
    if (was.find_first_of("[@") != std::string_view::npos) return std::string(was);
    const std::size_t variant = std::min(id.find('/'), id.size());
    const bool names_variant = was.find('/') != std::string_view::npos;
    const std::size_t kept =
        names_variant ? std::min(id.find_first_of("[@", variant), id.size()) : variant;
    return std::string(was).append(id.substr(kept));
}

std::string without_params(std::string_view id,
                           const std::function<bool(std::string_view param)>& dropped) {
    const std::vector<std::string_view> params = params_of(id);
    if (params.empty()) return std::string(id);
    std::string kept;
    for (const std::string_view param : params) {
        if (!dropped(param)) kept.append(kept.empty() ? "[" : ",").append(param);
    }
    if (!kept.empty()) kept += ']';
    const std::string_view last = params.back();
    const auto end = static_cast<std::size_t>(last.data() - id.data()) + last.size() + 1;
    return std::string(id.substr(0, id.find('['))) + kept +
           std::string(id.substr(std::min(end, id.size())));
}

namespace {

bool leads_out(const std::filesystem::path& path) {
    return !path.is_relative() || std::ranges::find(path, "..") != path.end();
}

}  // namespace

SourcePlace relative_to(const std::filesystem::path& folder, SourcePlace place) {
    const std::filesystem::path path = std::filesystem::path(place.file).lexically_relative(folder);
    if (!path.empty() && !leads_out(path)) place.file = path.generic_string();
    return place;
}

bool lies_inside(const SourcePlace& place) {
    return !place.file.empty() && place.line > 0 && !leads_out(place.file);
}

}  // namespace perfgate::model
