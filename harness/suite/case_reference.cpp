// SPDX-License-Identifier: Apache-2.0
#include "suite/case_reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "metrics/catalogue.hpp"
#include "suite/fields.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}
bool is_name_char(char c) {
    return is_lower(c) || is_digit(c) || c == '_';
}
/// As in case ids.
bool is_value_char(char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view("_-+.:/").find(c) != std::string_view::npos;
}

/// In the name of a parameter that a benchmark reports.
bool is_axis_char(char c) {
    return is_letter(c) || is_digit(c) ||
           std::string_view("_-.:").find(c) != std::string_view::npos;
}
bool ends_result_name(char c) {
    return std::string_view(" \t\n\"()*+[@").find(c) != std::string_view::npos;
}

std::vector<std::string> workload_names(const std::vector<KnownWorkload>& workloads) {
    std::vector<std::string> names;
    names.reserve(workloads.size());
    for (const KnownWorkload& known : workloads) names.push_back(known.info->name);
    return names;
}

/// The longest of the names that is next in the text, with one of `ends` behind it; empty: none.
/// Names of programs may contain '-' and begin with a digit.
std::string known_name(std::string_view rest, const std::vector<std::string>& names,
                       std::string_view ends) {
    std::string longest;
    for (const std::string& name : names) {
        const bool next = rest.starts_with(name) && rest.size() > name.size() &&
                          ends.find(rest[name.size()]) != std::string_view::npos;
        if (next && name.size() > longest.size()) longest = name;
    }
    return longest;
}

/// Nothing if the parameter has no such value.
std::optional<model::ParamValue> value_of(const model::ParamInfo& info, const std::string& text) {
    switch (info.type) {
        case model::ParamType::boolean:
            if (text == "true") return true;
            if (text == "false") return false;
            return std::nullopt;
        case model::ParamType::integer:
            return util::parsed<std::int64_t>(text);
        case model::ParamType::real:
            return util::parsed<double>(text);
        case model::ParamType::text:
            break;
    }
    const bool allowed =
        info.choices.empty() || std::ranges::find(info.choices, text) != info.choices.end();
    return allowed ? std::optional<model::ParamValue>(text) : std::nullopt;
}

class ReferenceReader {
  public:
    ReferenceReader(Cursor& cursor, const std::vector<KnownWorkload>& workloads, Problems& problems)
        : cursor_(cursor), workloads_(workloads), problems_(problems) {}

    Operand read() {
        const std::size_t begin = cursor_.at();
        operand_.at = cursor_.place(begin);
        read_workload();
        read_variant();
        if (cursor_.peek() == '[') read_filter();
        if (cursor_.peek() == '@') read_cache();
        operand_.text = cursor_.from(begin);
        return std::move(operand_);
    }

  private:
    std::string take_name(const std::vector<std::string>& names, std::string_view ends) {
        std::string name = known_name(cursor_.rest(), names, ends);
        if (name.empty()) return cursor_.take_while(is_name_char);
        cursor_.move_to(cursor_.at() + name.size());
        return name;
    }

    /// Whether a variant, or a result of the benchmark, can begin so.
    bool begins_variant(std::string_view text) const {
        if (text.empty()) return false;
        if (operand_.reported() == nullptr) return is_name_char(text.front());
        return !ends_result_name(text.front()) || text.front() == '"';
    }

    /// `gemm/`.
    void read_workload() {
        const std::size_t begin = cursor_.at();
        const std::vector<std::string> names = workload_names(workloads_);
        const std::string name = take_name(names, "/");
        const auto known = std::ranges::find(names, name);
        if (known != names.end()) {
            operand_.known = &workloads_[static_cast<std::size_t>(known - names.begin())];
        }
        const std::string_view rest = cursor_.rest();
        if (name.empty() || !rest.starts_with('/') || !begins_variant(rest.substr(1))) {
            cursor_.move_to(begin);
            cursor_.fail(begin, fmt::format("{} is not a metric of a case; expected "
                                            "workload/variant.metric, such as gemm/tiled.gpu_time",
                                            cursor_.found_word()));
        }
        cursor_.skip();
        if (operand_.known == nullptr) {
            problems_.add_unknown(operand_.at, "workload", name, names);
        }
    }

    /// `tiled`.
    void read_variant() {
        const Position at = cursor_.place(cursor_.at());
        const KnownWorkload* known = operand_.known;
        if (known == nullptr) {
            operand_.variant_name = cursor_.take_while(is_name_char);
            return;
        }
        operand_.is_listed = !known_name(cursor_.rest(), known->listed, ".[@").empty();
        if (operand_.is_listed) {
            operand_.variant_name = take_name(known->listed, ".[@");
        } else if (known->discovering != nullptr) {
            operand_.variant_name = take_result_name(*known->discovering);
        } else {
            operand_.variant_name = take_name(names_of(known->variants), ".[@");
        }
        for (const model::VariantInfo* candidate : known->variants) {
            if (candidate->name == operand_.variant_name) operand_.variant = candidate;
        }
        if (operand_.variant != nullptr || known->open) return;
        problems_.add_unknown(at,
                              known->discovering == nullptr
                                  ? "variant"
                                  : "result of the benchmark " + known->info->name + ":",
                              operand_.variant_name, names_of(known->variants));
    }

    /// A name that a benchmark reports: in quotes, or up to its parameters, cache or metric.
    std::string take_result_name(const Settings& reported) {
        if (cursor_.peek() == '"') return quoted_value();
        const std::size_t begin = cursor_.at();
        std::size_t last_dot = std::string::npos;
        while (!cursor_.at_end() && !ends_result_name(cursor_.peek())) {
            if (cursor_.peek() == '.') {
                if (is_metric_next(reported)) return cursor_.from(begin);
                last_dot = cursor_.at();
            }
            cursor_.skip();
        }
        // An unknown metric, which is reported where it is read.
        const bool continued = cursor_.peek() == '[' || cursor_.peek() == '@';
        if (!continued && last_dot != std::string::npos) cursor_.move_to(last_dot);
        return cursor_.from(begin);
    }

    /// Whether a metric of the benchmark, and nothing that could continue it, is behind the dot.
    bool is_metric_next(const Settings& reported) const {
        const std::string_view after = cursor_.rest().substr(1);
        std::size_t length = 0;
        while (length < after.size() && is_word_char(after[length]) && after[length] != '.') {
            ++length;
        }
        const bool whole = length == after.size() || after[length] != '.';
        const std::vector<std::string>& names = reported.metrics->names;
        return whole && std::ranges::find(names, after.substr(0, length)) != names.end();
    }

    /// `[dtype=f32,m=64]`.
    void read_filter() {
        const bool reported = operand_.reported() != nullptr;
        cursor_.skip();
        do {
            cursor_.skip_spaces();
            const std::size_t name_at = cursor_.at();
            const std::string name = cursor_.take_while(reported ? is_axis_char : is_name_char);
            if (name.empty()) {
                cursor_.fail_unexpected_word("a parameter, as in [dtype=f32]");
            }
            if (cursor_.take("=") == '\0') {
                cursor_.fail_unexpected_word("'=' and the value of " + in_quotes(name));
            }
            cursor_.skip_spaces();
            const std::size_t value_at = cursor_.at();
            const bool quoted = cursor_.peek() == '"';
            const std::string value = quoted ? quoted_value() : cursor_.take_while(is_value_char);
            if (value.empty() && !quoted) {
                cursor_.fail_unexpected_word("the value of " + in_quotes(name));
            }
            fix(name, name_at, value, value_at);
        } while (cursor_.take(",") != '\0');
        if (cursor_.take("]") == '\0') cursor_.fail_unexpected_word("',' or ']'");
    }

    std::string quoted_value() {
        const std::size_t open = cursor_.at();
        const std::string_view text = cursor_.rest();
        std::string value;
        std::size_t at = 1;
        while (at < text.size() && text[at] != '"') {
            if (text[at] == '\\' && at + 1 < text.size()) ++at;
            value += text[at++];
        }
        if (at >= text.size()) cursor_.fail(open, "a quote that does not end; expected '\"'");
        cursor_.move_to(open + at + 1);
        return value;
    }

    void fix(const std::string& name, std::size_t name_at, const std::string& text,
             std::size_t value_at) {
        if (operand_.known == nullptr) return;
        if (operand_.is_open()) {
            set(name, name_at, text);
            return;
        }
        const auto& params = operand_.known->info->params;
        const auto info = std::ranges::find(params, name, &model::ParamInfo::name);
        if (info == params.end()) {
            problems_.add_unknown(cursor_.place(name_at), "parameter", name, names_of(params));
            return;
        }
        const std::optional<model::ParamValue> value = value_of(*info, text);
        if (!value) {
            if (!info->choices.empty()) {
                problems_.add_unknown(cursor_.place(value_at), "value", text, info->choices);
            } else {
                cursor_.add(
                    value_at,
                    fmt::format("{} for {}; expected {} {}", in_quotes(text), in_quotes(name),
                                info->type == model::ParamType::integer ? "an" : "a",
                                to_text(info->type)));
            }
            return;
        }
        set(name, name_at, *value);
    }

    void set(const std::string& name, std::size_t name_at, model::ParamValue value) {
        if (operand_.fixed.emplace(name, std::move(value)).second) return;
        cursor_.add(name_at, fmt::format("{} twice; expected it once", in_quotes(name)));
    }

    /// `@hot`.
    void read_cache() {
        cursor_.skip();
        const Position at = cursor_.place(cursor_.at());
        const std::string cache = cursor_.take_while(is_lower);
        if (cache != "hot" && cache != "cold") {
            problems_.add_unknown(at, "cache", cache, {"cold", "hot"});
        }
        operand_.cache = cache == "hot" ? model::Cache::hot : model::Cache::cold;
    }

    Cursor& cursor_;
    const std::vector<KnownWorkload>& workloads_;
    Problems& problems_;
    Operand operand_;
};

}  // namespace

bool begins_reference(const Cursor& cursor, const std::vector<KnownWorkload>& workloads) {
    return is_letter(cursor.peek()) || cursor.peek() == '_' ||
           !known_name(cursor.rest(), workload_names(workloads), "/").empty();
}

Operand read_reference(Cursor& cursor, const std::vector<KnownWorkload>& workloads,
                       Problems& problems) {
    return ReferenceReader(cursor, workloads, problems).read();
}

Operand::Use read_metric(Cursor& cursor, const Operand& operand) {
    if (cursor.peek() != '.') {
        const Settings* reported = operand.reported();
        const bool named = reported != nullptr && !reported->metrics->names.empty();
        const std::string example = named ? reported->metrics->names.front() : "gpu_time";
        cursor.fail(cursor.at(),
                    fmt::format("{} without a metric; expected '.' and one, as in {}.{}",
                                in_quotes(operand.text), operand.text, example));
    }
    cursor.skip();
    const Position at = cursor.place(cursor.at());
    return {cursor.take_while(is_word_char), at};
}

std::optional<model::MetricDefinition> definition_of(const Operand& operand,
                                                     const Operand::Use& use, Problems& problems) {
    const Settings* reported = operand.reported();
    if (reported != nullptr) {
        const std::vector<std::string>& names = reported->metrics->names;
        if (std::ranges::find(names, use.metric) == names.end()) {
            problems.add_unknown(use.at,
                                 "metric of the benchmark " + operand.known->info->name + ":",
                                 use.metric, names);
            return std::nullopt;
        }
        const auto own = reported->own.find(use.metric);
        if (own != reported->own.end()) return own->second.definition;
    }
    const std::optional<metrics::Metric> known = metrics::find_metric(use.metric);
    if (!known) {
        // A value of a benchmark that has another problem.
        if (reported != nullptr) return std::nullopt;
        problems.add_unknown(use.at, "metric", use.metric, metrics::metric_names(),
                             "a metric that `perfgate list --metrics` lists, or a CUPTI name");
        return std::nullopt;
    }
    return known->definition;
}

}  // namespace perfgate::suite
