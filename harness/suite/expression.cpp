// SPDX-License-Identifier: Apache-2.0
#include "suite/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>

#include "metrics/catalogue.hpp"
#include "model/dimension.hpp"
#include "model/roofline.hpp"
#include "model/text.hpp"
#include "suite/amount.hpp"
#include "suite/fields.hpp"

namespace perfgate::suite {

namespace {

using model::Dimension;
using model::Operator;

/// Ends the reading of one side; the problem has been reported.
struct SyntaxError {};

bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}
bool is_letter(char c) {
    return is_lower(c) || (c >= 'A' && c <= 'Z');
}
bool is_name_char(char c) {
    return is_lower(c) || is_digit(c) || c == '_';
}
bool is_metric_char(char c) {
    return is_letter(c) || is_digit(c) || c == '_' || c == '.';
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

/// A parsed part: its dimension (nothing: unknown, because of a problem that has been reported),
/// and its unit if it is a single metric.
struct Part {
    std::optional<Dimension> dimension;
    std::string unit = {};
    std::optional<double> constant = {};  ///< its value, if it contains no metric
};

class SideParser {
  public:
    SideParser(const PlacedText& placed, const std::vector<KnownWorkload>& workloads,
               std::vector<Operand>& operands, Problems& problems)
        : placed_(placed),
          text_(placed.text()),
          workloads_(workloads),
          operands_(operands),
          problems_(problems) {
        if (text_.size() > longest_expression) {
            fail(0, fmt::format("an expression of {} bytes; expected at most {}", text_.size(),
                                longest_expression));
        }
    }

    model::Comparator comparator() {
        skip_spaces();
        constexpr std::array longest_first{
            model::Comparator::less_equal, model::Comparator::greater_equal,
            model::Comparator::equal,      model::Comparator::not_equal,
            model::Comparator::less,       model::Comparator::greater};
        for (const model::Comparator candidate : longest_first) {
            const std::string_view spelled = to_text(candidate);
            if (!rest().starts_with(spelled)) continue;
            at_ += spelled.size();
            return candidate;
        }
        fail(at_, fmt::format("no comparison at {}; expected one of <=, <, >=, >, ==, != before "
                              "the expression",
                              found()));
    }

    /// The whole rest of the text.
    Part expression() {
        Part part = sum();
        skip_spaces();
        if (at_ < text_.size()) {
            const bool compares =
                std::string_view("<>=!").find(text_[at_]) != std::string_view::npos;
            fail(at_, fmt::format("unexpected {}; expected {}", found(),
                                  compares ? "one comparison, at the start of the right side"
                                           : "'+', '-', '*', '/' or the end"));
        }
        return part;
    }

    /// The name of a bound, the whole rest of the text.
    void bound() {
        skip_spaces();
        const std::size_t where = at_;
        const std::string word = take_while(is_lower);
        const std::optional<model::Bound> named = model::bound_named(word);
        skip_spaces();
        if (!named || at_ < text_.size()) {
            fail(where, fmt::format("unexpected {}; expected memory, compute or latency",
                                    in_quotes(text_.substr(where, 100))));
        }
        steps_.emplace_back(static_cast<double>(*named));
    }

    model::PostfixExpression take_steps() { return std::move(steps_); }
    /// A case's bound is in this expression.
    bool has_bound() const { return bound_at_.has_value(); }
    /// Reports a bound that is not the whole expression.
    void refuse_mixed_bound() {
        if (bound_at_ && steps_.size() != 1) {
            fail(*bound_at_,
                 "'bound' in an expression; expected it alone on the left side, as in "
                 "{softmax/online.bound: \"== memory\"}");
        }
    }
    void refuse_bound() {
        if (bound_at_) {
            fail(*bound_at_,
                 "'bound' on the right side; expected it alone on the left side, as in "
                 "{softmax/online.bound: \"== memory\"}");
        }
    }

  private:
    [[noreturn]] void fail(std::size_t offset, std::string message) {
        placed_.add(offset, std::move(message), problems_);
        throw SyntaxError{};
    }

    std::string_view rest() const { return std::string_view(text_).substr(at_); }
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

    void skip_spaces() {
        while (peek() == ' ' || peek() == '\t' || peek() == '\n') ++at_;
    }

    bool take(char c) {
        skip_spaces();
        if (peek() != c || at_ >= text_.size()) return false;
        ++at_;
        return true;
    }

    /// The word or character at the cursor, for messages.
    std::string found() const {
        if (at_ >= text_.size()) return "the end";
        std::size_t length = 0;
        while (at_ + length < text_.size() && is_metric_char(text_[at_ + length])) ++length;
        return in_quotes(rest().substr(0, std::max<std::size_t>(length, 1)));
    }

    template <typename Predicate>
    std::string take_while(Predicate belongs) {
        const std::size_t begin = at_;
        while (at_ < text_.size() && belongs(text_[at_])) ++at_;
        return text_.substr(begin, at_ - begin);
    }

    // --- arithmetic

    struct FoundOperator {
        Operator op;
        std::size_t at, right_at;  ///< where it and its right operand begin
    };

    std::optional<FoundOperator> take_operator(Operator first, Operator second) {
        skip_spaces();
        const std::size_t where = at_;
        for (const Operator op : {first, second}) {
            if (!take(to_text(op).front())) continue;
            skip_spaces();
            return FoundOperator{op, where, at_};
        }
        return std::nullopt;
    }

    Part sum() {
        Part left = product();
        while (const auto found = take_operator(Operator::add, Operator::subtract)) {
            const Part right = product();
            left = joined(left, *found, right);
        }
        return left;
    }

    Part product() {
        Part left = factor();
        while (const auto found = take_operator(Operator::multiply, Operator::divide)) {
            const Part right = factor();
            left = joined(left, *found, right);
        }
        return left;
    }

    Part joined(const Part& left, const FoundOperator& found, const Part& right) {
        Part part;
        if (found.op == Operator::divide && right.constant == 0.0) {
            placed_.add(found.right_at, "division by zero; expected another divisor", problems_);
        }
        if (left.dimension && right.dimension) {
            part.dimension = dimension_of(*left.dimension, found, *right.dimension);
        }
        if (left.constant && right.constant) {
            part.constant = apply(found.op, *left.constant, *right.constant);
        }
        steps_.emplace_back(found.op);
        return part;
    }

    std::optional<Dimension> dimension_of(const Dimension& left, const FoundOperator& found,
                                          const Dimension& right) {
        if (found.op == Operator::multiply) return left * right;
        if (found.op == Operator::divide) return left / right;
        if (left == right) return left;
        placed_.add(found.at,
                    fmt::format("{} {} {}; expected two of the same kind", in_words(left),
                                found.op == Operator::add ? "plus" : "minus", in_words(right)),
                    problems_);
        return std::nullopt;
    }

    /// Every recursion passes here: bounds the depth.
    Part factor() {
        skip_spaces();
        if (++depth_ > deepest_expression) {
            fail(at_, fmt::format("an expression nested deeper than {}; expected a simpler one",
                                  deepest_expression));
        }
        Part part;
        if (take('-')) {
            part = factor();
            if (part.constant) part.constant = -*part.constant;
            steps_.emplace_back(Operator::negate);
        } else if (take('(')) {
            const std::size_t open = at_ - 1;
            part = sum();
            if (!take(')')) {
                fail(at_, fmt::format("unexpected {}; expected ')' for the '(' at character {}",
                                      found(), open + 1));
            }
        } else if (is_letter(peek()) || peek() == '_' ||
                   !known_name(workload_names(), "/").empty()) {
            part = metric();
        } else if (is_digit(peek()) || peek() == '.') {
            part = number();
        } else {
            fail(at_, fmt::format("unexpected {}; expected a number, a metric of a case such as "
                                  "gemm/tiled.gpu_time, or '('",
                                  found()));
        }
        --depth_;
        return part;
    }

    Part number() {
        const std::size_t begin = at_;
        std::string_view after = rest();
        const std::optional<double> value = take_number(after);
        if (!value || !std::isfinite(*value)) {
            fail(begin, fmt::format("no number at {}; expected one such as 0.25 or 5us", found()));
        }
        at_ = text_.size() - after.size();
        const bool spaced = after.starts_with(' ');
        if (spaced) after.remove_prefix(1);
        const std::optional<AmountUnit> unit = take_unit(after);
        if (unit) {
            at_ = text_.size() - after.size();
        } else if (!spaced && (is_letter(peek()) || peek() == '_' || peek() == '%')) {
            const std::string suffix(rest().substr(0, rest().find_first_of(" \t\n)*+-")));
            fail(at_, fmt::format("unknown unit {}; expected one such as us, MiB, GB/s, %, or none "
                                  "for a plain number{}",
                                  in_quotes(suffix), model::did_you_mean(suffix, unit_names())));
        }
        const model::UnitMeaning meaning = model::meaning_of(unit ? unit->base : "");
        const double scaled = *value * (unit ? unit->factor : 1) * meaning.scale;
        if (!std::isfinite(scaled)) {
            fail(begin, fmt::format("the number {} is too large; expected a smaller one",
                                    in_quotes(text_.substr(begin, at_ - begin))));
        }
        steps_.emplace_back(scaled);
        return {meaning.dimension, {}, scaled};
    }

    // --- metrics of cases

    Part metric() {
        const std::size_t begin = at_;
        Operand operand = reference();
        operand.text = text_.substr(begin, at_ - begin);
        if (peek() != '.') {
            const KnownWorkload* known = find_known(operand.workload);
            const Settings* benchmark = known == nullptr ? nullptr : known->benchmark;
            const bool named = benchmark != nullptr && !benchmark->metrics->names.empty();
            const std::string example = named ? benchmark->metrics->names.front() : "gpu_time";
            fail(at_, fmt::format("{} without a metric; expected '.' and one, as in {}.{}",
                                  in_quotes(operand.text), operand.text, example));
        }
        ++at_;
        const std::size_t where = at_;
        const std::string name = take_while(is_metric_char);
        const std::size_t index = index_of(std::move(operand), begin);
        operands_[index].uses.push_back({name, placed_.at(where)});
        steps_.emplace_back(model::OperandMetric{index, name});

        if (name == model::bound_operand) {
            bound_at_ = where;
            return {};
        }
        const std::optional<model::MetricDefinition> known =
            definition_of(operands_[index], name, where);
        if (!known) return {};
        return {model::meaning_of(known->unit).dimension, known->unit};
    }

    /// Nothing, and a problem, if there is no such metric, or the benchmark does not report it.
    std::optional<model::MetricDefinition> definition_of(const Operand& operand,
                                                         const std::string& name,
                                                         std::size_t where) {
        const KnownWorkload* workload = find_known(operand.workload);
        const Settings* benchmark = workload == nullptr ? nullptr : workload->benchmark;
        if (benchmark != nullptr) {
            const std::vector<std::string>& names = benchmark->metrics->names;
            if (std::find(names.begin(), names.end(), name) == names.end()) {
                problems_.add_unknown(placed_.at(where),
                                      "metric of the benchmark " + operand.workload->name + ":",
                                      name, names);
                return std::nullopt;
            }
            const auto own = benchmark->own.find(name);
            if (own != benchmark->own.end()) return own->second.definition;
        }
        const std::optional<metrics::Metric> known = metrics::find_metric(name);
        if (!known) {
            // A value of a benchmark that has another problem.
            if (benchmark != nullptr) return std::nullopt;
            problems_.add_unknown(placed_.at(where), "metric", name, metrics::metric_names(),
                                  "a metric that `perfgate metrics` lists, or a CUPTI name");
            return std::nullopt;
        }
        return known->definition;
    }

    const KnownWorkload* find_known(const model::WorkloadInfo* info) const {
        for (const KnownWorkload& known : workloads_) {
            if (known.info == info) return &known;
        }
        return nullptr;
    }

    std::size_t index_of(Operand operand, std::size_t begin) {
        for (std::size_t i = 0; i < operands_.size(); ++i) {
            if (operands_[i].text == operand.text) return i;
        }
        if (operands_.size() == most_operands) {
            fail(begin,
                 fmt::format("more than {} cases in one relation; expected fewer", most_operands));
        }
        operand.at = placed_.at(begin);
        operands_.push_back(std::move(operand));
        return operands_.size() - 1;
    }

    std::vector<std::string> workload_names() const {
        std::vector<std::string> names;
        for (const KnownWorkload& known : workloads_) names.push_back(known.info->name);
        return names;
    }

    const KnownWorkload* find_known(const std::string& workload) const {
        for (const KnownWorkload& known : workloads_) {
            if (known.info->name == workload) return &known;
        }
        return nullptr;
    }

    /// The longest of the names that is next in the text, with one of `ends` behind it; empty:
    /// none. Names of programs may contain '-' and begin with a digit.
    std::string known_name(const std::vector<std::string>& names, std::string_view ends) const {
        std::string longest;
        for (const std::string& name : names) {
            const bool next = rest().starts_with(name) && rest().size() > name.size() &&
                              ends.find(rest()[name.size()]) != std::string_view::npos;
            if (next && name.size() > longest.size()) longest = name;
        }
        return longest;
    }

    std::string take_name(const std::vector<std::string>& names, std::string_view ends) {
        std::string name = known_name(names, ends);
        if (name.empty()) return take_while(is_name_char);
        at_ += name.size();
        return name;
    }

    /// A name that a benchmark reports: in quotes, or up to its parameters, cache or metric.
    std::string take_result_name(const Settings& benchmark) {
        if (peek() == '"') return quoted_value();
        const std::size_t begin = at_;
        std::size_t last_dot = std::string::npos;
        while (at_ < text_.size() && !ends_result_name(text_[at_])) {
            if (text_[at_] == '.') {
                if (is_metric_next(benchmark)) return text_.substr(begin, at_ - begin);
                last_dot = at_;
            }
            ++at_;
        }
        // An unknown metric, which is reported where it is read.
        if (peek() != '[' && peek() != '@' && last_dot != std::string::npos) at_ = last_dot;
        return text_.substr(begin, at_ - begin);
    }

    /// Whether a metric of the benchmark, and nothing that could continue it, is behind the dot.
    bool is_metric_next(const Settings& benchmark) const {
        const std::string_view after = rest().substr(1);
        std::size_t length = 0;
        while (length < after.size() && is_metric_char(after[length]) && after[length] != '.') {
            ++length;
        }
        const bool whole = length == after.size() || after[length] != '.';
        const std::vector<std::string>& names = benchmark.metrics->names;
        return whole &&
               std::find(names.begin(), names.end(), after.substr(0, length)) != names.end();
    }

    Operand reference() {
        Operand operand;
        const std::size_t begin = at_;
        const std::string workload = take_name(workload_names(), "/");
        const KnownWorkload* known = find_known(workload);
        const Settings* benchmark = known == nullptr ? nullptr : known->benchmark;
        if (workload.empty() || peek() != '/' || at_ + 1 >= text_.size() ||
            (benchmark == nullptr ? !is_name_char(text_[at_ + 1])
                                  : ends_result_name(text_[at_ + 1]) && text_[at_ + 1] != '"')) {
            at_ = begin;
            fail(begin,
                 fmt::format("{} is not a metric of a case; expected workload/variant.metric, "
                             "such as gemm/tiled.gpu_time",
                             found()));
        }
        ++at_;
        const std::size_t variant_at = at_;
        operand.variant_name = benchmark != nullptr
                                   ? take_result_name(*benchmark)
                                   : take_name(known == nullptr ? std::vector<std::string>()
                                                                : names_of(known->variants),
                                               ".[@");
        find(workload, begin, known, variant_at, operand);
        if (peek() == '[') filter(operand, benchmark != nullptr);
        if (peek() == '@') {
            ++at_;
            const std::size_t where = at_;
            const std::string cache = take_while(is_lower);
            if (cache != "hot" && cache != "cold") {
                problems_.add_unknown(placed_.at(where), "cache", cache, {"cold", "hot"});
            }
            operand.cache = cache == "hot" ? model::Cache::hot : model::Cache::cold;
        }
        return operand;
    }

    void find(const std::string& workload, std::size_t workload_at, const KnownWorkload* known,
              std::size_t variant_at, Operand& operand) {
        if (known == nullptr) {
            problems_.add_unknown(placed_.at(workload_at), "workload", workload, workload_names());
            return;
        }
        operand.workload = known->info;
        operand.open = known->open;
        for (const model::VariantInfo* candidate : known->variants) {
            if (candidate->name == operand.variant_name) operand.variant = candidate;
        }
        if (operand.variant != nullptr || operand.open) return;
        problems_.add_unknown(placed_.at(variant_at),
                              known->benchmark == nullptr
                                  ? "variant"
                                  : "result of the benchmark " + known->info->name + ":",
                              operand.variant_name, names_of(known->variants));
    }

    /// `[dtype=f32,m=64]`.
    void filter(Operand& operand, bool of_benchmark) {
        ++at_;
        do {
            skip_spaces();
            const std::size_t name_at = at_;
            const std::string name = take_while(of_benchmark ? is_axis_char : is_name_char);
            if (name.empty()) {
                fail(at_, fmt::format("unexpected {}; expected a parameter, as in [dtype=f32]",
                                      found()));
            }
            if (!take('=')) {
                fail(at_, fmt::format("unexpected {}; expected '=' and the value of {}", found(),
                                      in_quotes(name)));
            }
            skip_spaces();
            const std::size_t value_at = at_;
            const bool quoted = peek() == '"';
            const std::string value = quoted ? quoted_value() : take_while(is_value_char);
            if (value.empty() && !quoted) {
                fail(at_, fmt::format("unexpected {}; expected the value of {}", found(),
                                      in_quotes(name)));
            }
            fix(operand, name, name_at, value, value_at);
        } while (take(','));
        if (!take(']')) fail(at_, fmt::format("unexpected {}; expected ',' or ']'", found()));
    }

    std::string quoted_value() {
        const std::size_t open = at_++;
        std::string value;
        while (at_ < text_.size() && text_[at_] != '"') {
            if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
            value += text_[at_++];
        }
        if (at_ >= text_.size()) fail(open, "a quote that does not end; expected '\"'");
        ++at_;
        return value;
    }

    void fix(Operand& operand, const std::string& name, std::size_t name_at,
             const std::string& text, std::size_t value_at) {
        if (operand.workload == nullptr) return;
        if (operand.open) {
            set(operand, name, name_at, text);
            return;
        }
        const auto& params = operand.workload->params;
        const auto info =
            std::find_if(params.begin(), params.end(),
                         [&](const model::ParamInfo& param) { return param.name == name; });
        if (info == params.end()) {
            problems_.add_unknown(placed_.at(name_at), "parameter", name, names_of(params));
            return;
        }
        const std::optional<model::ParamValue> value = value_of(*info, text);
        if (!value) {
            if (!info->choices.empty()) {
                problems_.add_unknown(placed_.at(value_at), "value", text, info->choices);
            } else {
                placed_.add(
                    value_at,
                    fmt::format("{} for {}; expected {} {}", in_quotes(text), in_quotes(name),
                                info->type == model::ParamType::integer ? "an" : "a",
                                to_text(info->type)),
                    problems_);
            }
            return;
        }
        set(operand, name, name_at, *value);
    }

    void set(Operand& operand, const std::string& name, std::size_t name_at,
             model::ParamValue value) {
        if (operand.fixed.emplace(name, std::move(value)).second) return;
        placed_.add(name_at, fmt::format("{} twice; expected it once", in_quotes(name)), problems_);
    }

    static std::optional<model::ParamValue> value_of(const model::ParamInfo& info,
                                                     const std::string& text) {
        const char* const end = text.data() + text.size();
        const auto parsed = [&](auto number) -> std::optional<model::ParamValue> {
            const auto [stop, error] = std::from_chars(text.data(), end, number);
            if (error != std::errc{} || stop != end) return std::nullopt;
            return number;
        };
        switch (info.type) {
            case model::ParamType::boolean:
                if (text == "true") return true;
                if (text == "false") return false;
                return std::nullopt;
            case model::ParamType::integer:
                return parsed(std::int64_t{});
            case model::ParamType::real:
                return parsed(double{});
            case model::ParamType::text:
                break;
        }
        const bool allowed =
            info.choices.empty() ||
            std::find(info.choices.begin(), info.choices.end(), text) != info.choices.end();
        return allowed ? std::optional<model::ParamValue>(text) : std::nullopt;
    }

    const PlacedText& placed_;
    const std::string& text_;
    const std::vector<KnownWorkload>& workloads_;
    std::vector<Operand>& operands_;
    Problems& problems_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
    std::optional<std::size_t> bound_at_;
    model::PostfixExpression steps_;
};

/// Bounds are equal or not.
void refuse_order(model::Comparator comparator, const PlacedText& right, Problems& problems) {
    if (comparator == model::Comparator::equal || comparator == model::Comparator::not_equal) {
        return;
    }
    right.add(0, fmt::format("'{}' with a bound; expected == or !=", to_text(comparator)),
              problems);
    throw SyntaxError{};
}

/// The result of `read`, or nothing after a syntax error.
template <typename Read>
auto unless_wrong(const Read& read) -> std::optional<decltype(read())> {
    try {
        return read();
    } catch (const SyntaxError&) {
        return std::nullopt;
    }
}

}  // namespace

std::optional<RelationExpression> parse_relation(const PlacedText& left, const PlacedText& right,
                                                 const std::vector<KnownWorkload>& workloads,
                                                 Problems& problems) {
    const std::size_t before = problems.count();
    RelationExpression relation;
    bool of_bound = false;
    const std::optional<Part> left_part = unless_wrong([&] {
        SideParser parser(left, workloads, relation.operands, problems);
        Part part = parser.expression();
        parser.refuse_mixed_bound();
        of_bound = parser.has_bound();
        relation.left = parser.take_steps();
        return part;
    });
    if (left_part && relation.operands.empty()) {
        left.add(0, "no metric on the left side; expected one, such as gemm/tiled.gpu_time",
                 problems);
    }
    const std::optional<Part> right_part = unless_wrong([&] {
        SideParser parser(right, workloads, relation.operands, problems);
        relation.comparator = parser.comparator();
        Part part;
        if (of_bound) {
            refuse_order(relation.comparator, right, problems);
            parser.bound();
        } else {
            part = parser.expression();
            parser.refuse_bound();
        }
        relation.right = parser.take_steps();
        return part;
    });
    if (left_part && right_part && left_part->dimension && right_part->dimension) {
        if (*left_part->dimension != *right_part->dimension) {
            right.add(0,
                      fmt::format("compares {} with {}; expected {} on both sides{}",
                                  in_words(*left_part->dimension), in_words(*right_part->dimension),
                                  in_words(*left_part->dimension),
                                  *right_part->dimension == Dimension{}
                                      ? ": give numbers their unit, such as 5us"
                                      : ""),
                      problems);
        }
        relation.unit = left_part->unit.empty() ? unit_of(*left_part->dimension) : left_part->unit;
    }
    if (problems.count() != before) return std::nullopt;
    return relation;
}

}  // namespace perfgate::suite
