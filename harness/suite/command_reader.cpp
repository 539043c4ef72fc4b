// SPDX-License-Identifier: Apache-2.0
#include "suite/command_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "metrics/catalogue.hpp"
#include "model/command_words.hpp"
#include "model/subject.hpp"
#include "suite/matrix.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

using model::longest_word;
using model::most_words;

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
    const bool braces = node.kind == YamlNode::Kind::map && node.entries.size() == 1 &&
                        node.entries.front().value->kind == YamlNode::Kind::null;
    if (braces) {
        problems.add(node.at, "a map in {}; expected a word with {{ }} in quotes: \"{{{}}}\"",
                     in_quotes(what), util::printable(node.entries.front().key->text, 80));
        return std::nullopt;
    }
    if (node.kind != YamlNode::Kind::scalar) {
        add_wrong_type(node, what, "text or a number", problems);
        return std::nullopt;
    }
    if (node.text.size() > longest_word) {
        problems.add(node.at, "a word of {} bytes in {}; expected at most {}", node.text.size(),
                     in_quotes(what), longest_word);
        return std::nullopt;
    }
    if (node.text.find('\0') != std::string::npos) {
        problems.add(node.at, "a zero byte in {}; expected text that a program can be given",
                     in_quotes(what));
        return std::nullopt;
    }
    return node.text;
}

/// Whether a program's name is a whole command line. A path may have spaces.
bool is_command_line(const std::string& word) {
    const std::size_t space = word.find(' ');
    if (space == std::string::npos || space == 0) return false;
    const std::size_t next = word.find_first_not_of(' ', space);
    return word.find('/') > space || (next != std::string::npos && word[next] == '-');
}

std::string one_item_per_word(const std::string& line) {
    std::string items;
    for (std::size_t begin = 0; begin < line.size();) {
        const std::size_t end = std::min(line.find(' ', begin), line.size());
        if (end > begin) {
            items += (items.empty() ? "" : ", ") + util::printable(line.substr(begin, end - begin));
        }
        begin = end + 1;
    }
    return items;
}

std::string words_of(const std::vector<std::string>& words) {
    std::vector<std::string> quoted;
    quoted.reserve(words.size());
    for (const std::string& word : words) quoted.push_back(util::shell_word(word));
    return fmt::format("{}", fmt::join(quoted, " "));
}

/// A number, or all of one model.
Sort<std::int64_t> gpus() {
    const Sort<std::int64_t> number = integer(1, 64, "\"all\" or an integer");
    return {R"("anyOf": [{"const": "all"}, {)" + number.schema + "}]",
            [number](const KeyValue& value) -> std::optional<std::int64_t> {
                return value.node.text == "all" ? model::all_gpus : number.read(value);
            },
            [number](std::int64_t value) {
                return value == model::all_gpus ? "all" : number.text(value);
            }};
}

/// As review shows them.
std::string words_or_none(const std::vector<std::string>& words) {
    return words.empty() ? "none" : fmt::format("{}", fmt::join(words, " "));
}

/// "./build/" and "build" are the same folder.
std::string folder_text(const std::string& folder) {
    std::string text = std::filesystem::path(folder).lexically_normal().native();
    if (text.size() > 1 && text.ends_with('/')) text.pop_back();
    return text == "." ? "" : text;
}

class CommandReader {
    using Row = Key<CommandReader, Program>;

    template <auto member>
    static void words_into(const KeyValue& value, CommandReader& to) {
        to.read_.command.*member = to.words(value.node, value.key);
    }
    static constexpr auto in_command(auto member) {
        return in(&CommandReader::read_, &ReadCommand::command, member);
    }

    /// A member of the command.
    template <auto member, typename T>
    static Row of_command(std::string_view name, std::string_view help, const Sort<T>& sort) {
        return Row(name, help, sort, in_command(member))
            .usually(sort.text(command::Command{}.*member));
    }
    /// Another number of them is measured as something else.
    template <auto member>
    static Row counted(std::string_view name, std::string_view help,
                       const Sort<std::int64_t>& sort) {
        return of_command<member>(name, help, sort).measured_as([sort](const Program& of) {
            const int value = of.command.*member;
            return value == command::Command{}.*member ? "" : sort.text(value);
        });
    }

  public:
    CommandReader(const YamlNode& entry, bool benchmark, Problems& problems)
        : benchmark_(benchmark),
          fields_(entry, benchmark ? "a benchmark entry" : "a command entry",
                  names_of_keys(benchmark), problems),
          problems_(problems) {
        read_.at = entry.at;
    }

    ReadCommand read() {
        read_keys(fields_, program_keys(), *this, problems_);
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
        }
        read_keys(fields_, benchmark_ ? benchmark_words() : command_keys(), *this, problems_);
        check_parameters();
        describe_workload();
        return std::move(read_);
    }

    /// The keys that programs and benchmarks have.
    static const std::vector<Row>& program_keys() {
        static const std::vector<Row> keys{
            Row("name", "The first part of the case ids; not the name of a workload.", slug(),
                in_command(&command::Command::name))
                .needed(),
            Row("check",
                "A command that runs after the program in the first batch. Exit status 0 means "
                "that the program's result is correct; otherwise its cases are `incorrect`. "
                "Without it the report says that it is not verified.",
                defined("words"), words_into<&command::Command::check>)
                .shows([](const Program& of) { return words_or_none(of.command.check); }),
            Row("env",
                "Variables in addition to the inherited ones. With `PATH`, the program is looked "
                "up in it. `run.json` records them, so do not put secrets there.",
                R"("type": "object", "additionalProperties": {"$ref": "#/definitions/word"},
                   "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "not": {"pattern":
                       "^PERFGATE_|_INJECTION64_PATH$|^CUDA_VISIBLE_DEVICES$"}})",
                &CommandReader::environment)
                .measured_as([](const Program& of, model::MeasuredAs& to) {
                    for (const auto& [name, value] : of.command.environment) {
                        to["env." + name] = value;
                    }
                }),
            Row("cwd", "The working folder, relative to the suite's folder, which is the default.",
                text("a folder", longest_word), in_command(&command::Command::folder))
                .measured_as([](const Program& of) { return folder_text(of.command.folder); }),
            of_command<&command::Command::time_limit_s>(
                "timeout", "After this time the program and its child processes are terminated.",
                seconds("90s", 7 * 24 * 3600.0)),
            counted<&command::Command::exit_status>("exit", "The expected exit status.",
                                                    integer(0, 255)),
            counted<&command::Command::warm_up_runs>(
                "warmup", "Runs before the first one that counts.", integer(0, 100)),
            counted<&command::Command::gpus>("gpus",
                                             "How many GPUs the program sees, or `all` of one "
                                             "model: see [several GPUs](programs.md#several-gpus).",
                                             gpus()),
            of_command<&command::Command::max_overhead>(
                "max_overhead",
                "If recording lengthens the range, or the program, by more than this, `span` and "
                "what else depends on the host's time is invalid; see [what recording "
                "costs](programs.md#what-recording-costs).",
                fraction())
                .shows([](const Program& of) { return percent(of.command.max_overhead); })
                .weaker_if([](const Program& before, const Program& after) {
                    return after.layout == nullptr &&
                           after.command.max_overhead > before.command.max_overhead;
                }),
            {"matrix",
             "As for [workloads](../suites/README.md#matrix). Every parameter must be used in the "
             "program's words, in `env` or in `check`.",
             defined("matrix"),
             [](const KeyValue& value, CommandReader& to) {
                 to.read_.matrix = &value.node;
                 to.parameters(value.node);
             }},
            {"tags", "As for workloads.", defined("tags"), node_of,
             in(&CommandReader::read_, &ReadCommand::tags)},
        };
        return keys;
    }

    static const std::vector<Row>& command_keys() {
        static const std::vector<Row> keys{
            Row("command",
                "The program and its arguments. No shell is involved. `{param}` is replaced by a "
                "parameter of `matrix`.",
                defined("words"), words_into<&command::Command::words>)
                .needed()
                .measured_as([](const Program& of) { return words_of(of.command.words); }),
            of_command<&command::Command::code>(
                "code",
                "`false`: the machine code of kernels is not read, so that no GPU time is [shown "
                "by its code](programs.md#unchanged-work).",
                boolean())
                .shows([](const Program& of) { return of.command.code ? "" : "false"; })
                .weaker_if([](const Program& before, const Program& after) {
                    return after.command.code && !before.command.code;
                }),
            Row("capture",
                "The [part of the program](#the-part-of-a-program-that-counts) that counts: "
                "`profiler_api`, `{after_launches: N}`, `{range: NAME}`. Without it, all of it.",
                R"("oneOf": [{"const": "profiler_api"}, {"$ref": "#/definitions/capture"}])",
                &CommandReader::capture)
                .measured_as([](const Program& of) { return in_words(of.command.capture); }),
        };
        return keys;
    }

    static const std::vector<Row>& benchmark_words() {
        static const std::vector<Row> keys{
            Row("benchmark",
                "The program and its arguments. `{out}` is the file that it writes, `{param}` a "
                "parameter of `matrix`, which is part of the case id.",
                defined("words"), words_into<&command::Command::words>)
                .needed()};
        return keys;
    }

    using CaptureRow = Key<model::CaptureRange>;
    static const std::vector<CaptureRow>& capture_keys() {
        static const std::vector<CaptureRow> keys{
            {"after_launches",
             "Leaves out the first kernel launches of each process, and all before them.",
             integer(1, model::most_launches), &model::CaptureRange::after_launches},
            {"range", "The time from the first to the last NVTX range of exactly this name.",
             pattern("the name of an NVTX range,"), &model::CaptureRange::range},
        };
        return keys;
    }

  private:
    static const std::vector<std::string>& names_of_keys(bool benchmark) {
        static const std::vector<std::string> of_benchmarks = key_names(tables::benchmark());
        static const std::vector<std::string> of_commands = key_names(tables::command());
        return benchmark ? of_benchmarks : of_commands;
    }

    std::vector<std::string> words(const YamlNode& node, std::string_view what) {
        std::vector<std::string> words;
        const auto items = read_list(node, what, "words: the program and its arguments", problems_);
        if (items.size() > most_words) {
            problems_.add(node.at, "{} words in {}; expected at most {}", items.size(),
                          in_quotes(what), most_words);
            return words;
        }
        for (const YamlNode* item : items) {
            const std::optional<std::string> word = read_word(*item, what, problems_);
            if (!word) continue;
            if (words.empty() && is_command_line(*word)) {
                problems_.add(item->at, "no program is named {}; expected one item per word: [{}]",
                              in_quotes(*word), one_item_per_word(*word));
            }
            if (words.empty() && word->empty()) {
                problems_.add(item->at, "{} begins with an empty word; expected a program",
                              in_quotes(what));
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

    // --- capture

    void capture(const YamlNode& node) {
        model::CaptureRange& capture = read_.command.capture;
        if (node.kind == YamlNode::Kind::scalar && node.text == "profiler_api") {
            capture.profiler_api = true;
        } else if (node.kind == YamlNode::Kind::map && !node.entries.empty()) {
            const Fields fields(node, "'capture'", key_names(capture_keys()), problems_);
            read_keys(fields, capture_keys(), capture, problems_);
        } else {
            add_wrong_type(node, "capture",
                           "profiler_api, {after_launches: 1000} or {range: measured}", problems_);
        }
        refuse_counters(node.at);
    }

    /// They are collected in other runs, at the launches that 'skip' and 'count' say.
    void refuse_counters(Position at) {
        for (const Label& label : read_.labels.labels) {
            for (const std::string& name : label.settings.metrics->names) {
                const auto metric = metrics::find_metric(name);
                if (!metric || metric->source != metrics::Source::counter) continue;
                problems_.add(at,
                              "'capture' with the counter {}.{}; expected counters in an entry of "
                              "their own, with 'skip'",
                              label.name, name);
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
                    problems_.add(
                        key.at,
                        "{} in the matrix of a program, which has none; expected parameters",
                        in_quotes(key.text));
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
        std::vector<std::string> usable = names;
        if (benchmark_) usable.emplace_back(out_parameter);
        std::set<std::string> used;
        for (const auto& [name, at] : used_) {
            used.insert(name);
            if (std::ranges::find(names, name) != names.end()) continue;
            if (benchmark_ && name == out_parameter) {
                problems_.add(at, "'{out}' is known only to 'benchmark' and 'env'");
                continue;
            }
            problems_.add(at, "'{{{}}}' is not a parameter of 'matrix'; expected {}{}",
                          util::printable(name, 80), benchmark_ ? "one, or {out}" : "one",
                          util::did_you_mean(name, usable));
        }
        for (const std::string& name : names) {
            if (used.contains(name)) continue;
            problems_.add(read_.matrix->at,
                          "parameter {} of 'matrix' is used nowhere; expected '{{{}}}' in '{}', "
                          "'env' or 'check'",
                          in_quotes(name), util::printable(name, 80),
                          benchmark_ ? "benchmark" : "command");
        }
    }

    void refuse_recording_keys() {
        for (const std::string_view key : recording_keys) {
            const YamlNode* node = fields_.find(key);
            if (node == nullptr) continue;
            problems_.add(
                node->at, "{} of a benchmark without 'measure', of which nothing is recorded; {}",
                in_quotes(key),
                key == "expect" ? "expected the suite's 'expect'" : "expected 'measure' too");
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
    if (!model::is_identifier(name)) {
        return fmt::format("{} is not the name of a variable; expected letters, digits and '_'",
                           in_quotes(name));
    }
    if (name.starts_with("PERFGATE_") || name.ends_with("_INJECTION64_PATH") ||
        name == "CUDA_VISIBLE_DEVICES") {
        return fmt::format("{} is set by perfgate; expected another variable", in_quotes(name));
    }
    return {};
}

std::vector<KeyText> tables::program() {
    return texts_of(CommandReader::program_keys());
}

std::vector<KeyText> tables::command() {
    return joined({texts_of(CommandReader::command_keys()), program(), texts_of(label_keys())});
}

std::vector<KeyText> tables::benchmark() {
    return joined({texts_of(CommandReader::benchmark_words()), texts_of(benchmark_keys()),
                   program(), texts_of(label_keys())});
}

std::vector<KeyText> tables::capture() {
    return texts_of(CommandReader::capture_keys());
}

namespace {

const std::vector<Compared<Program>>& compared_keys() {
    static const std::vector<Compared<Program>> all = [] {
        std::vector<Compared<Program>> keys;
        const auto add = [&](const auto& rows) {
            keys.insert(keys.end(), rows.begin(), rows.end());
        };
        add(CommandReader::program_keys());
        add(CommandReader::command_keys());
        add(label_keys());
        add(benchmark_keys());
        return keys;
    }();
    return all;
}

}  // namespace

model::MeasuredAs measured_as(const Program& program) {
    return measured_as(compared_keys(), program);
}

std::vector<WeakerKey> weaker_keys(const Program& before, const Program& after) {
    return weaker_keys(compared_keys(), before, after);
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
