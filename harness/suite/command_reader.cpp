// SPDX-License-Identifier: Apache-2.0
#include "suite/command_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "model/text.hpp"
#include "suite/amount.hpp"

namespace perfgate::suite {

namespace {

constexpr std::size_t most_words = 1000;
constexpr std::size_t longest_word = 4096;
constexpr std::size_t longest_pattern = 256;
constexpr std::size_t most_labels = 100;
constexpr double longest_time_limit_s = 7 * 24 * 3600.0;
constexpr std::int64_t most_warm_up_runs = 100;
constexpr std::int64_t most_gpus = 64;
constexpr std::int64_t most_skipped = 1'000'000;

constexpr std::array<std::string_view, 16> command_keys{"command",
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
                                                        "check",
                                                        "tags"};
constexpr std::array<std::string_view, 5> label_keys{"nvtx", "kernel", "within", "threads", "skip"};

/// The metrics of each kind of piece, in the order of reports.
std::vector<std::string> metrics_of(model::Piece::Kind kind) {
    std::vector<std::string> names{"gpu_time"};
    if (kind != model::Piece::Kind::kernels) {
        names.insert(names.end(), {"span", "idle_share"});
    }
    names.insert(names.end(), {"kernels", "tracing_overhead"});
    if (kind == model::Piece::Kind::kernels) return names;
    names.insert(names.end(), {"short_kernels", "host_launches", "graph_launches", "copies",
                               "pageable_copies", "copied_bytes", "memsets", "syncs"});
    if (kind == model::Piece::Kind::program) {
        names.insert(names.end(), {"peak_memory", "wall_time"});
    }
    return names;
}

std::string_view in_words(model::Piece::Kind kind) {
    switch (kind) {
        case model::Piece::Kind::program:
            return "the program";
        case model::Piece::Kind::range:
            return "a range";
        case model::Piece::Kind::kernels:
            return "a label of kernels";
    }
    return "";
}

bool is_identifier(std::string_view text) {
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
        return letter(c) || (c >= '0' && c <= '9');
    });
}

/// `text` with each `{identifier}` replaced by `value_of(identifier)`.
template <typename ValueOf>
std::string replaced(std::string_view text, const ValueOf& value_of) {
    std::string result;
    while (!text.empty()) {
        const std::size_t open = text.find('{');
        result += text.substr(0, open);
        if (open == std::string_view::npos) break;
        text.remove_prefix(open);
        const std::size_t close = text.find_first_of("{}", 1);
        const bool closed = close != std::string_view::npos && text[close] == '}';
        const std::string_view name = closed ? text.substr(1, close - 1) : std::string_view{};
        if (!is_identifier(name)) {
            result += '{';
            text.remove_prefix(1);
            continue;
        }
        result += value_of(std::string(name));
        text.remove_prefix(close + 1);
    }
    return result;
}

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

std::optional<std::int64_t> read_count(const YamlNode& node, std::string_view what,
                                       std::int64_t most, Problems& problems) {
    const std::optional<std::int64_t> value = integer_of(node);
    if (value && *value >= 0 && *value <= most) return value;
    add_wrong_type(node, what, fmt::format("an integer from 0 to {}", most), problems);
    return std::nullopt;
}

class CommandReader {
  public:
    CommandReader(const YamlNode& entry, Problems& problems)
        : fields_(entry, "a command entry", command_keys, problems), problems_(problems) {
        read_.at = entry.at;
    }

    ReadCommand read() {
        if (const YamlNode* node = fields_.require("name", problems_)) {
            read_.command.name = read_slug(*node, "name", problems_).value_or("");
        }
        if (const YamlNode* node = fields_.find("command")) {
            read_.command.words = words(*node, "command");
        }
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
        if (const YamlNode* node = fields_.find("measure")) labels(*node);
        gates();
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
            note_parameters(*word, item->at);
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
            if (!is_identifier(name)) {
                problems_.add(
                    entry.key->at,
                    fmt::format("{} is not the name of a variable; expected letters, digits "
                                "and '_'",
                                in_quotes(name)));
                continue;
            }
            if (name.starts_with("PERFGATE_") || name.ends_with("_INJECTION64_PATH") ||
                name == "CUDA_VISIBLE_DEVICES") {
                problems_.add(entry.key->at,
                              fmt::format("{} is set by perfgate; expected another variable",
                                          in_quotes(name)));
                continue;
            }
            if (const auto value = read_word(*entry.value, name, problems_)) {
                note_parameters(*value, entry.value->at);
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

    // --- parameters

    void note_parameters(std::string_view text, Position at) {
        replaced(text, [&](const std::string& name) {
            used_.emplace_back(name, at);
            return "";
        });
    }

    void parameters(const YamlNode& matrix) {
        if (matrix.kind != YamlNode::Kind::map) return;  // reported where it is read
        const auto of_map = [&](const YamlNode& map, bool rule) {
            for (const YamlNode::Entry& entry : map.entries) {
                const std::string& name = entry.key->text;
                if (rule && (name == "variant" || name == "cache")) {
                    problems_.add(entry.key->at,
                                  fmt::format("{} in the matrix of a program, which has none; "
                                              "expected parameters",
                                              in_quotes(name)));
                    continue;
                }
                parameter(*entry.key, *entry.value);
            }
        };
        for (const YamlNode::Entry& entry : matrix.entries) {
            const bool rules = entry.key->text == "include" || entry.key->text == "exclude";
            const auto& items = entry.value->items;
            if (!rules && !items.empty() && items.front()->kind != YamlNode::Kind::map) {
                parameter(*entry.key, *items.front());
                continue;
            }
            for (const YamlNode* item : items) of_map(*item, rules);
        }
    }

    void parameter(const YamlNode& key, const YamlNode& first_value) {
        const std::string& name = key.text;
        const auto known =
            std::any_of(read_.workload.params.begin(), read_.workload.params.end(),
                        [&](const model::ParamInfo& info) { return info.name == name; });
        if (known) return;
        if (!is_identifier(name)) {
            problems_.add(key.at,
                          fmt::format("{} is not the name of a parameter; expected letters, "
                                      "digits and '_'",
                                      in_quotes(name)));
        }
        model::ParamInfo& info = read_.workload.params.emplace_back();
        info.name = name;
        info.minimum = std::numeric_limits<std::int64_t>::min();
        info.maximum = std::numeric_limits<std::int64_t>::max();
        info.type = boolean_of(first_value)   ? model::ParamType::boolean
                    : integer_of(first_value) ? model::ParamType::integer
                    : number_of(first_value)  ? model::ParamType::real
                                              : model::ParamType::text;
    }

    void check_parameters() {
        std::vector<std::string> names;
        for (const model::ParamInfo& info : read_.workload.params) names.push_back(info.name);
        std::set<std::string> used;
        for (const auto& [name, at] : used_) {
            used.insert(name);
            if (std::find(names.begin(), names.end(), name) != names.end()) continue;
            problems_.add(
                at, fmt::format("'{{{}}}' is not a parameter of 'matrix'; expected one{}",
                                model::printable(name, 80), model::did_you_mean(name, names)));
        }
        for (const std::string& name : names) {
            if (used.contains(name)) continue;
            problems_.add(read_.matrix->at,
                          fmt::format("parameter {} of 'matrix' is used nowhere; expected '{{{}}}' "
                                      "in 'command', 'env' or 'check'",
                                      in_quotes(name), model::printable(name, 80)));
        }
    }

    // --- what is measured

    void labels(const YamlNode& node) {
        if (node.kind != YamlNode::Kind::map || node.entries.empty()) {
            add_wrong_type(node, "measure", "a map from label to {nvtx: …} or {kernel: …}",
                           problems_);
            return;
        }
        if (node.entries.size() > most_labels) {
            problems_.add(node.at, fmt::format("{} labels in 'measure'; expected at most {}",
                                               node.entries.size(), most_labels));
            return;
        }
        for (const YamlNode::Entry& entry : node.entries) {
            const std::optional<std::string> name = read_slug(*entry.key, "measure", problems_);
            if (!name) continue;
            if (*name == program_label) {
                problems_.add(entry.key->at,
                              "'program' is the label of the whole program; expected another one");
                continue;
            }
            add_label(*name, piece(*entry.value), entry.key->at);
        }
    }

    Label& add_label(std::string name, model::Piece piece, Position at) {
        Label& label = read_.labels.emplace_back();
        label.name = std::move(name);
        label.settings.metrics = Settings::Metrics{metrics_of(piece.kind), at};
        label.piece = std::move(piece);
        label.at = at;
        return label;
    }

    model::Piece piece(const YamlNode& node) {
        model::Piece piece;
        const Fields fields(node, "a label of 'measure'", label_keys, problems_);
        const auto pattern = [&](std::string_view key) -> std::string {
            const YamlNode* found = fields.find(key);
            if (found == nullptr) return {};
            // YAML reads a name such as 3 as a number.
            if (found->kind == YamlNode::Kind::scalar && !found->text.empty() &&
                found->text.size() <= longest_pattern) {
                return found->text;
            }
            add_wrong_type(*found, key, fmt::format("a glob of 1 to {} bytes", longest_pattern),
                           problems_);
            return {};
        };
        const YamlNode* nvtx = fields.find("nvtx");
        const YamlNode* kernel = fields.find("kernel");
        if (node.kind == YamlNode::Kind::map && (nvtx == nullptr) == (kernel == nullptr)) {
            problems_.add(node.at,
                          fmt::format("a label {} 'nvtx' and 'kernel'; expected one of them",
                                      nvtx == nullptr ? "without" : "with"));
        }
        piece.kind = kernel != nullptr ? model::Piece::Kind::kernels : model::Piece::Kind::range;
        piece.pattern = pattern(kernel != nullptr ? "kernel" : "nvtx");
        piece.within = pattern("within");
        if (nvtx != nullptr && kernel == nullptr && !piece.within.empty()) {
            problems_.add(fields.find("within")->at,
                          "'within' of a range; expected it of a 'kernel' alone");
        }
        if (const YamlNode* threads = fields.find("threads")) {
            static const std::vector<std::string> choices{"all", "own"};
            piece.own_thread = read_choice(*threads, "threads", choices, problems_) == 1U;
        }
        if (const YamlNode* skip = fields.find("skip")) {
            piece.skip = read_count(*skip, "skip", most_skipped, problems_).value_or(0);
        }
        return piece;
    }

    // --- gates

    /// The label that "step.gpu_time" begins with; the program's is added when it is first used.
    Label* label_of(const YamlNode& key) {
        const std::string& text = key.text;
        const std::string name =
            text.substr(0, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-"));
        const auto found = std::find_if(read_.labels.begin(), read_.labels.end(),
                                        [&](const Label& label) { return label.name == name; });
        if (found != read_.labels.end()) return &*found;
        if (name == program_label) return &add_label(name, {}, key.at);
        std::vector<std::string> names{std::string(program_label)};
        for (const Label& label : read_.labels) names.push_back(label.name);
        problems_.add_unknown(key.at, "label", name, names);
        return nullptr;
    }

    void gates() {
        if (const YamlNode* node = fields_.find("tolerances")) tolerances(*node);
        if (const YamlNode* node = fields_.find("expect")) {
            read_.expect = node;
            for (const YamlNode::Entry& entry : node->entries) {
                Label* label = label_of(*entry.key);
                if (label != nullptr) label->expected = true;
                wrong_gates_ = wrong_gates_ || label == nullptr;
            }
        }
        std::optional<double> cross_board;
        if (const YamlNode* node = fields_.find("cross_board_tolerance")) {
            cross_board = read_fraction(*node, "cross_board_tolerance", problems_);
        }
        for (Label& label : read_.labels) {
            label.settings.cross_board = cross_board;
            if (label.expected || !label.settings.tolerances.empty() || wrong_gates_) continue;
            problems_.add(label.at, fmt::format("nothing gates {}; expected a tolerance such as "
                                                "{}.gpu_time: 3%, or an expectation",
                                                in_quotes(label.name), label.name));
        }
        if (read_.labels.empty() && !wrong_gates_ && fields_.find("measure") == nullptr) {
            problems_.add(read_.at,
                          "nothing of the program is gated; expected 'measure' and 'tolerances', "
                          "or a tolerance such as program.gpu_time: 3%");
        }
    }

    void tolerances(const YamlNode& node) {
        if (node.kind != YamlNode::Kind::map) {
            add_wrong_type(node, "tolerances", "a map from label.metric to tolerance", problems_);
            wrong_gates_ = true;
            return;
        }
        for (const YamlNode::Entry& entry : node.entries) {
            const std::size_t before = problems_.count();
            tolerance(entry);
            wrong_gates_ = wrong_gates_ || problems_.count() != before;
        }
    }

    void tolerance(const YamlNode::Entry& entry) {
        const std::string& key = entry.key->text;
        const std::size_t dot = key.find('.');
        if (dot == std::string::npos) {
            problems_.add(entry.key->at, fmt::format("{} in 'tolerances'; expected label.metric, "
                                                     "such as step.gpu_time",
                                                     in_quotes(key)));
            return;
        }
        Label* label = label_of(*entry.key);
        if (label == nullptr) return;
        const std::string name = key.substr(std::min(dot, key.size() - 1) + 1);
        const std::vector<std::string>& names = label->settings.metrics->names;
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            problems_.add_unknown(entry.key->at,
                                  fmt::format("metric of {}:", in_words(label->piece.kind)), name,
                                  names);
            return;
        }
        if (const auto read = read_tolerance_entry(entry, *metrics::find_metric(name), problems_)) {
            label->settings.tolerances.emplace(name, *read);
        }
    }

    void describe_workload() {
        read_.workload.name = read_.command.name;
        for (const Label& label : read_.labels) {
            model::VariantInfo& variant = read_.workload.variants.emplace_back();
            variant.name = label.name;
            variant.target = model::Target::program;
            variant.submission = model::Submission::synchronous;
        }
    }

    Fields fields_;
    Problems& problems_;
    ReadCommand read_;
    std::vector<std::pair<std::string, Position>> used_;  ///< {param} in words
    bool wrong_gates_ = false;
};

}  // namespace

EntryKind kind_of_entry(const YamlNode& entry, Problems& problems) {
    static constexpr std::array<std::string_view, 4> kinds{"workload", "command", "benchmark",
                                                           "source"};
    const std::size_t before = problems.count();
    const YamlNode* kind = nullptr;
    for (const YamlNode::Entry& field : entry.entries) {
        const std::string& key = field.key->text;
        if (std::find(kinds.begin(), kinds.end(), key) == kinds.end()) continue;
        if (kind != nullptr) {
            problems.add(
                field.key->at,
                fmt::format("'{}' and '{}' in one entry; expected one of them", kind->text, key));
        } else if (key == "benchmark" || key == "source") {
            problems.add(
                field.key->at,
                fmt::format("'{}' is not supported yet; expected 'workload' or 'command'", key));
        }
        kind = field.key;
    }
    if (problems.count() != before) return EntryKind::refused;
    return kind != nullptr && kind->text == "command" ? EntryKind::command : EntryKind::workload;
}

ReadCommand read_command(const YamlNode& entry, Problems& problems) {
    return CommandReader(entry, problems).read();
}

model::Command filled_in(const model::Command& command, const model::Params& params) {
    const auto fill = [&](std::string& text) {
        text = replaced(text, [&](const std::string& name) {
            const auto found = params.find(name);
            return found == params.end() ? "{" + name + "}" : word_of(found->second);
        });
    };
    model::Command filled = command;
    for (std::string& word : filled.words) fill(word);
    for (std::string& word : filled.check) fill(word);
    for (auto& [name, value] : filled.environment) fill(value);
    return filled;
}

}  // namespace perfgate::suite
