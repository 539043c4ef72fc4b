// SPDX-License-Identifier: Apache-2.0
#include "suite/command_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "metrics/catalogue.hpp"
#include "model/command_words.hpp"
#include "suite/amount.hpp"
#include "suite/fields.hpp"
#include "suite/label_reader.hpp"
#include "suite/matrix.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

using model::is_identifier;
using model::longest_word;
using model::most_words;

constexpr double longest_time_limit_s = 7 * 24 * 3600.0;
constexpr std::int64_t most_warm_up_runs = 100;
constexpr std::int64_t most_gpus = 64;

constexpr std::array<std::string_view, 18> command_keys{"command",
                                                        "name",
                                                        "env",
                                                        "cwd",
                                                        "timeout",
                                                        "exit",
                                                        "warmup",
                                                        "gpus",
                                                        "max_overhead",
                                                        "matrix",
                                                        "measure",
                                                        "tolerances",
                                                        "cross_board_tolerance",
                                                        "expect",
                                                        "health",
                                                        "check",
                                                        "capture",
                                                        "tags"};

constexpr std::array<std::string_view, 22> benchmark_keys{
    "benchmark", "format", "name",   "env",          "cwd",        "timeout",
    "exit",      "warmup", "gpus",   "max_overhead", "matrix",     "rows",
    "case",      "axes",   "values", "measure",      "tolerances", "cross_board_tolerance",
    "expect",    "health", "check",  "tags"};

/// Keys of a benchmark that are about what is recorded.
constexpr std::array<std::string_view, 3> recording_keys{"max_overhead", "expect", "health"};

/// `{out}` without its braces.
constexpr std::string_view out_parameter = "out";

/// A value as an argument of a program: text without the quotes of case ids.
std::string word_of(const model::ParamValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? *text : model::to_text(value);
}

/// Any scalar as it is written.
std::optional<std::string> read_word(const YamlNode& node, std::string_view what,
                                     Problems& problems) {
    if (node.kind != YamlNode::Kind::scalar) {
        add_wrong_type(node, what, "text or a number", problems);
        return std::nullopt;
    }
    if (node.text.size() > longest_word) {
        problems.add(node.at, fmt::format("a word of {} bytes in {}; expected at most {}",
                                          node.text.size(), in_quotes(what), longest_word));
        return std::nullopt;
    }
    if (node.text.find('\0') != std::string::npos) {
        problems.add(node.at, fmt::format("a zero byte in {}; expected text that a program can be "
                                          "given",
                                          in_quotes(what)));
        return std::nullopt;
    }
    return node.text;
}

class CommandReader {
  public:
    CommandReader(const YamlNode& entry, bool benchmark, Problems& problems)
        : benchmark_(benchmark),
          fields_(benchmark ? Fields(entry, "a benchmark entry", benchmark_keys, problems)
                            : Fields(entry, "a command entry", command_keys, problems)),
          problems_(problems) {
        read_.at = entry.at;
    }

    ReadCommand read() {
        if (const YamlNode* node = fields_.require("name", problems_)) {
            read_.command.name = read_slug(*node, "name", problems_).value_or("");
        }
        const std::string_view key = benchmark_ ? "benchmark" : "command";
        if (const YamlNode* node = fields_.find(key)) read_.command.words = words(*node, key);
        if (const YamlNode* node = fields_.find("check")) {
            read_.command.check = words(*node, "check");
        }
        if (const YamlNode* node = fields_.find("env")) environment(*node);
        if (const YamlNode* node = fields_.find("cwd")) {
            read_.command.folder =
                read_text(*node, "cwd", "a folder", longest_word, problems_).value_or("");
        }
        if (const YamlNode* node = fields_.find("timeout")) time_limit(*node);
        if (const YamlNode* node = fields_.find("exit")) {
            read_.command.exit_status =
                static_cast<int>(read_count(*node, "exit", 255, problems_).value_or(0));
        }
        if (const YamlNode* node = fields_.find("warmup")) {
            read_.command.warm_up_runs = static_cast<int>(
                read_count(*node, "warmup", most_warm_up_runs, problems_).value_or(0));
        }
        if (const YamlNode* node = fields_.find("gpus")) {
            const std::optional<std::int64_t> gpus = integer_of(*node);
            if (gpus && *gpus >= 1 && *gpus <= most_gpus) {
                read_.command.gpus = static_cast<int>(*gpus);
            } else {
                add_wrong_type(*node, "gpus", fmt::format("an integer from 1 to {}", most_gpus),
                               problems_);
            }
        }
        if (const YamlNode* node = fields_.find("max_overhead")) {
            read_.command.max_overhead =
                read_fraction(*node, "max_overhead", problems_).value_or(0);
        }
        read_.tags = fields_.find("tags");
        read_.matrix = fields_.find("matrix");
        if (read_.matrix != nullptr) parameters(*read_.matrix);
        check_parameters();
        const bool recorded = !benchmark_ || fields_.find("measure") != nullptr;
        if (recorded) {
            read_.labels =
                read_labels(fields_, read_.command.name, benchmark_, read_.at, problems_);
        } else {
            refuse_recording_keys();
        }
        if (benchmark_) {
            auto& labels = read_.labels.labels;
            labels.insert(labels.begin(),
                          read_benchmark(fields_, read_.command, read_.reading.emplace(), read_.at,
                                         problems_));
        } else if (const YamlNode* node = fields_.find("capture")) {
            capture(*node);
        }
        describe_workload();
        return std::move(read_);
    }

  private:
    std::vector<std::string> words(const YamlNode& node, std::string_view what) {
        std::vector<std::string> words;
        const auto items = read_list(node, what, "words: the program and its arguments", problems_);
        if (items.size() > most_words) {
            problems_.add(node.at, fmt::format("{} words in {}; expected at most {}", items.size(),
                                               in_quotes(what), most_words));
            return words;
        }
        for (const YamlNode* item : items) {
            const std::optional<std::string> word = read_word(*item, what, problems_);
            if (!word) continue;
            if (words.empty() && word->empty()) {
                problems_.add(item->at, fmt::format("{} begins with an empty word; expected a "
                                                    "program",
                                                    in_quotes(what)));
            }
            note_parameters(*word, item->at, what != "check");
            words.push_back(*word);
        }
        return words;
    }

    void environment(const YamlNode& node) {
        if (node.kind != YamlNode::Kind::map) {
            add_wrong_type(node, "env", "a map from variable to value", problems_);
            return;
        }
        for (const YamlNode::Entry& entry : node.entries) {
            const std::string& name = entry.key->text;
            if (std::string problem = problem_of_variable(name); !problem.empty()) {
                problems_.add(entry.key->at, std::move(problem));
                continue;
            }
            if (const auto value = read_word(*entry.value, name, problems_)) {
                note_parameters(*value, entry.value->at, true);
                read_.command.environment.emplace_back(name, *value);
            }
        }
    }

    void time_limit(const YamlNode& node) {
        const std::size_t before = problems_.count();
        const std::optional<Amount> amount = read_amount(node, "timeout", problems_);
        if (amount && !amount->unit.empty()) {
            const std::optional<double> time_ns = in_unit(*amount, "ns");
            if (time_ns && *time_ns > 0 && *time_ns <= longest_time_limit_s * 1e9) {
                read_.command.time_limit_s = *time_ns / 1e9;
                return;
            }
        }
        if (problems_.count() != before) return;
        add_wrong_type(node, "timeout",
                       fmt::format("a time with its unit (90s), above 0 and up to {:g}s",
                                   longest_time_limit_s),
                       problems_);
    }

    // --- capture

    void capture(const YamlNode& node) {
        static constexpr std::array<std::string_view, 2> keys{"after_launches", "range"};
        model::CaptureRange& capture = read_.command.capture;
        if (node.kind == YamlNode::Kind::scalar && node.text == "profiler_api") {
            capture.profiler_api = true;
        } else if (node.kind == YamlNode::Kind::map && !node.entries.empty()) {
            const Fields fields(node, "'capture'", keys, problems_);
            if (const YamlNode* launches = fields.find("after_launches")) {
                capture.after_launches = launches_left_out(*launches);
            }
            if (const YamlNode* range = fields.find("range")) capture.range = range_name(*range);
        } else {
            add_wrong_type(node, "capture",
                           "profiler_api, {after_launches: 1000} or {range: measured}", problems_);
        }
        refuse_counters(node.at);
    }

    std::uint64_t launches_left_out(const YamlNode& node) {
        const std::optional<std::int64_t> count = integer_of(node);
        if (count && *count >= 1 && static_cast<std::uint64_t>(*count) <= model::most_launches) {
            return static_cast<std::uint64_t>(*count);
        }
        add_wrong_type(node, "after_launches",
                       fmt::format("an integer from 1 to {}", model::most_launches), problems_);
        return 0;
    }

    std::string range_name(const YamlNode& node) {
        // YAML reads a name such as 3 as a number.
        if (node.kind == YamlNode::Kind::scalar && !node.text.empty() &&
            node.text.size() <= model::longest_pattern) {
            return node.text;
        }
        add_wrong_type(
            node, "range",
            fmt::format("the name of an NVTX range, of 1 to {} bytes", model::longest_pattern),
            problems_);
        return {};
    }

    /// They are collected in other runs, at the launches that 'skip' and 'count' say.
    void refuse_counters(Position at) {
        for (const Label& label : read_.labels.labels) {
            for (const std::string& name : label.settings.metrics->names) {
                const auto metric = metrics::find_metric(name);
                if (!metric || metric->source != metrics::Source::counter) continue;
                problems_.add(at, fmt::format("'capture' with the counter {}.{}; expected counters "
                                              "in an entry of their own, with 'skip'",
                                              label.name, name));
                return;
            }
        }
    }

    // --- parameters

    /// `may_write`: `{out}` of a benchmark may be in it.
    void note_parameters(std::string_view text, Position at, bool may_write) {
        model::with_parameters(text, [&](const std::string& name) {
            if (benchmark_ && may_write && name == out_parameter) return std::string();
            used_.emplace_back(name, at);
            return std::string();
        });
    }

    void parameters(const YamlNode& matrix) {
        read_.workload.params = parameters_of(
            matrix,
            [&](const YamlNode& key, bool rule) {
                if (rule && (key.text == "variant" || key.text == "cache")) {
                    problems_.add(key.at,
                                  fmt::format("{} in the matrix of a program, which has none; "
                                              "expected parameters",
                                              in_quotes(key.text)));
                    return true;
                }
                if (!benchmark_ || key.text != out_parameter) return false;
                problems_.add(key.at,
                              "'out' is replaced by the file that the benchmark writes; expected "
                              "another name");
                return true;
            },
            problems_);
    }

    void check_parameters() {
        std::vector<std::string> names;
        for (const model::ParamInfo& info : read_.workload.params) names.push_back(info.name);
        std::set<std::string> used;
        for (const auto& [name, at] : used_) {
            used.insert(name);
            if (std::find(names.begin(), names.end(), name) != names.end()) continue;
            problems_.add(at,
                          fmt::format("'{{{}}}' is not a parameter of 'matrix'; expected one{}",
                                      util::printable(name, 80), util::did_you_mean(name, names)));
        }
        for (const std::string& name : names) {
            if (used.contains(name)) continue;
            problems_.add(read_.matrix->at,
                          fmt::format("parameter {} of 'matrix' is used nowhere; expected '{{{}}}' "
                                      "in '{}', 'env' or 'check'",
                                      in_quotes(name), util::printable(name, 80),
                                      benchmark_ ? "benchmark" : "command"));
        }
    }

    void refuse_recording_keys() {
        for (const std::string_view key : recording_keys) {
            const YamlNode* node = fields_.find(key);
            if (node == nullptr) continue;
            problems_.add(node->at,
                          fmt::format("{} of a benchmark without 'measure', of which nothing is "
                                      "recorded; {}",
                                      in_quotes(key),
                                      key == "expect" ? "expected the suite's 'expect'"
                                                      : "expected 'measure' too"));
        }
    }

    void describe_workload() {
        read_.workload.name = read_.command.name;
        for (const Label& label : read_.labels.labels) {
            model::VariantInfo& variant = read_.workload.variants.emplace_back();
            variant.name = label.name;
            variant.target = model::Target::program;
            variant.submission = model::Submission::synchronous;
        }
    }

    bool benchmark_;
    Fields fields_;
    Problems& problems_;
    ReadCommand read_;
    std::vector<std::pair<std::string, Position>> used_;  ///< {param} in words
};

}  // namespace

std::string problem_of_variable(const std::string& name) {
    if (!is_identifier(name)) {
        return fmt::format("{} is not the name of a variable; expected letters, digits and '_'",
                           in_quotes(name));
    }
    if (name.starts_with("PERFGATE_") || name.ends_with("_INJECTION64_PATH") ||
        name == "CUDA_VISIBLE_DEVICES") {
        return fmt::format("{} is set by perfgate; expected another variable", in_quotes(name));
    }
    return {};
}

ReadCommand read_command(const YamlNode& entry, bool benchmark, Problems& problems) {
    return CommandReader(entry, benchmark, problems).read();
}

command::Command filled_in(const command::Command& command, const model::Params& params) {
    const auto fill = [&](std::string& text) {
        text = model::with_parameters(text, [&](const std::string& name) {
            const auto found = params.find(name);
            return found == params.end() ? "{" + name + "}" : word_of(found->second);
        });
    };
    command::Command filled = command;
    for (std::string& word : filled.words) fill(word);
    for (std::string& word : filled.check) fill(word);
    for (auto& [name, value] : filled.environment) fill(value);
    return filled;
}

command::Command recorded(command::Command benchmark) {
    benchmark.recorded = true;
    benchmark.warm_up_runs = 0;  // it has run before
    return benchmark;
}

}  // namespace perfgate::suite
