// SPDX-License-Identifier: Apache-2.0
#include "suite/label_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>

#include "metrics/catalogue.hpp"
#include "model/command_words.hpp"
#include "suite/amount.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

constexpr std::size_t most_labels = 100;
constexpr std::int64_t most_skipped = 1'000'000;

constexpr std::int64_t most_counted = 100;

/// What the records of kernels say. Not local_bytes: they have 0 once the driver has allocated
/// enough local memory. `stack` is read from the machine code, which may not be known.
constexpr std::array<const char*, 3> launch_facts{"registers", "static_smem", "dynamic_smem"};
constexpr const char* stack = "stack";

/// The metrics of each kind of piece, in the order of reports. How often a benchmark iterates is
/// its own choice.
std::vector<std::string> metrics_of(command::Piece::Kind kind, bool of_benchmark) {
    std::vector<std::string> names{"gpu_time"};
    if (kind != command::Piece::Kind::kernels) {
        names.insert(names.end(), {"span", "idle_share", "longest_idle"});
    }
    if (kind != command::Piece::Kind::program && !of_benchmark) names.emplace_back("instances");
    names.insert(names.end(), {"kernels", "tracing_overhead"});
    if (kind == command::Piece::Kind::kernels) {
        names.insert(names.end(), launch_facts.begin(), launch_facts.end());
        return names;
    }
    names.insert(names.end(),
                 {"short_kernels", "host_launches", "graph_launches", "copies", "pageable_copies",
                  "copied_bytes", "copy_time", "exposed_copy_share", "memsets", "syncs",
                  "underfilled_share", "communication_time", "communication_share",
                  "exposed_communication_share", "communication_skew", metrics::memory_peak});
    names.insert(names.end(),
                 {"own_span", "communication_calls", "communicated_bytes", "bus_bandwidth"});
    if (kind == command::Piece::Kind::program) {
        names.emplace_back("wall_time");
    } else {
        names.insert(names.end(), {"uncapturable_calls", "legacy_stream_launches"});
    }
    return names;
}

std::string_view in_words(command::Piece::Kind kind) {
    return util::word_of<command::Piece::Kind::kernels>(
        kind, {"the program", "a range", "a label of kernels"});
}

/// "nvtx 'step*', skip 1"; empty: the whole program.
std::string text_of(const command::Piece& piece) {
    using Kind = command::Piece::Kind;
    if (piece.kind == Kind::program) return {};
    std::string text = fmt::format("{} {}", piece.kind == Kind::range ? "nvtx" : "kernel",
                                   util::shell_word(piece.pattern));
    if (!piece.size.is_any()) text += " with " + model::in_words(piece.size);
    if (!piece.within.empty()) text += " within " + util::shell_word(piece.within);
    if (piece.skip != 0) text += fmt::format(", skip {}", piece.skip);
    if (piece.own_thread) text += ", own thread";
    if (piece.counted != 1) text += fmt::format(", count {}", piece.counted);
    return text;
}

class LabelReader {
  public:
    LabelReader(const Fields& fields, const std::string& command, bool is_benchmark,
                Problems& problems)
        : fields_(fields), command_(command), is_benchmark_(is_benchmark), problems_(problems) {}

    ReadLabels read(Position at) {
        read_keys(fields_, keys(), *this, problems_);
        check_gates(at);
        return std::move(read_);
    }

    static const std::vector<Key<LabelReader, Program>>& keys() {
        using Row = Key<LabelReader, Program>;
        static const std::vector<Row> keys{
            Row("measure",
                "A map from [label](programs.md#labels) to what of its activity is measured.",
                fmt::format(R"("type": "object", "minProperties": 1, "maxProperties": {},
                    "propertyNames": {{"$ref": "#/definitions/label_name"}},
                    "additionalProperties": {{"$ref": "#/definitions/label"}})",
                            most_labels),
                &LabelReader::labels)
                .measured_as([](const Program& of) { return text_of(of.piece); }),
            {"tolerances",
             "A map from `label.metric` to a [tolerance](../suites/README.md#tolerances). The "
             "label `program` is the whole program; it has a case if it is named here or in "
             "`expect`.",
             R"("allOf": [{"$ref": "#/definitions/tolerances"},
                {"propertyNames": {"pattern": "\\."}}])",
             &LabelReader::tolerances},
            Row("cross_board_tolerance",
                "As for workloads. `defaults` of the suite do not apply to programs; its "
                "`overrides` do.",
                fraction(), &LabelReader::cross_board_),
            {"expect",
             "A map from `label.metric` to a [comparison](../suites/README.md#relations), checked "
             "in each run without a baseline. A label that neither this nor `tolerances` or "
             "`health` names is only reported.",
             defined("expect"), &LabelReader::expect},
            {"health",
             "Labels of ranges that must stay within the limits of the [health "
             "set](programs.md#the-health-set), or a map from them to other limits.",
             R"("anyOf": [{"type": "array", "minItems": 1,
                           "items": {"$ref": "#/definitions/label_name"}},
                {"type": "object", "minProperties": 1,
                 "propertyNames": {"$ref": "#/definitions/label_name"},
                 "additionalProperties": {"$ref": "#/definitions/health"}}])",
             &LabelReader::health},
        };
        return keys;
    }

    /// A label's keys are read into its piece and what its keys say about each other.
    struct LabelText {
        bool of_kernels = false;
        command::Piece piece = {};
        std::vector<Position>& counts;
    };

    static const std::vector<Key<LabelText>>& label_text_keys() {
        using Row = Key<LabelText>;
        static const std::vector<Row> keys{
            {"nvtx", "Glob on the names of NVTX ranges; of a domain: `domain:name`.",
             pattern("a glob"), in(&LabelText::piece, &command::Piece::pattern)},
            {"kernel",
             "Glob on the names of kernels, as in C++ (demangled) or as in the machine code.",
             pattern("a glob"), in(&LabelText::piece, &command::Piece::pattern)},
            {"grid",
             "Only launches with this grid: blocks in x, y and z; what is left out is 1, as in "
             "CUDA's `dim3`.",
             defined("launch_extents"),
             [](const KeyValue& value, LabelText& to) {
                 if (is_of_kernel(value, to)) extents(value, to.piece.size.grid);
             }},
            {"block",
             "Only launches with such blocks: threads in x, y and z; what is left out is 1.",
             defined("launch_extents"),
             [](const KeyValue& value, LabelText& to) {
                 if (is_of_kernel(value, to)) extents(value, to.piece.size.block);
             }},
            {"within", "The NVTX ranges that the kernels are launched in.",
             pattern("a glob").schema,
             [](const KeyValue& value, LabelText& to) {
                 to.piece.within = pattern("a glob").read(value).value_or("");
                 if (!to.piece.within.empty()) is_of_kernel(value, to);
             }},
            {"threads", "`own`: a range takes the launches of its own thread alone.",
             choice<bool>({{"all", false}, {"own", true}}),
             in(&LabelText::piece, &command::Piece::own_thread)},
            {"skip", "The first instances in each process, which are left out.",
             integer(0, most_skipped), in(&LabelText::piece, &command::Piece::skip)},
            {"count",
             "Launches of each process whose [counters](#counters) are collected, after those that "
             "are left out.",
             integer(1, most_counted).schema,
             [](const KeyValue& value, LabelText& to) {
                 if (!is_of_kernel(value, to)) return;
                 to.piece.counted = integer(1, most_counted).read(value).value_or(1);
                 to.counts.push_back(value.node.at);
             }},
        };
        return keys;
    }

  private:
    void labels(const YamlNode& node) {
        is_measured_ = true;
        if (node.kind != YamlNode::Kind::map || node.entries.empty()) {
            add_wrong_type(node, "measure", "a map from label to {nvtx: …} or {kernel: …}",
                           problems_);
            return;
        }
        if (node.entries.size() > most_labels) {
            problems_.add(node.at, "{} labels in 'measure'; expected at most {}",
                          node.entries.size(), most_labels);
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

    Label& add_label(std::string name, command::Piece piece, Position at) {
        Label& label = read_.labels.emplace_back();
        label.name = std::move(name);
        label.settings.metrics = Settings::Metrics{metrics_of(piece.kind, is_benchmark_), at};
        if (piece.kind == command::Piece::Kind::kernels) {
            label.settings.of_kernels.assign(launch_facts.begin(), launch_facts.end());
        }
        label.piece = std::move(piece);
        label.at = at;
        return label;
    }

    command::Piece piece(const YamlNode& node) {
        const Fields fields(node, "a label of 'measure'", key_names(label_text_keys()), problems_);
        const bool of_range = fields.find("nvtx") != nullptr;
        const bool of_kernels = fields.find("kernel") != nullptr;
        if (node.kind == YamlNode::Kind::map && of_range == of_kernels) {
            problems_.add(node.at, "a label {} 'nvtx' and 'kernel'; expected one of them",
                          of_range ? "with" : "without");
        }
        LabelText read{.of_kernels = of_kernels, .counts = counts_};
        read.piece.kind = of_kernels ? command::Piece::Kind::kernels : command::Piece::Kind::range;
        read_keys(fields, label_text_keys(), read, problems_);
        return std::move(read.piece);
    }

    static bool is_of_kernel(const KeyValue& value, const LabelText& to) {
        if (to.of_kernels) return true;
        value.problems.add(value.node.at, "{} of a range; expected it of a 'kernel' alone",
                           in_quotes(value.key));
        return false;
    }

    /// As dim3: what is left out is 1.
    static void extents(const KeyValue& value, std::array<std::uint32_t, 3>& size) {
        std::vector<const YamlNode*> items{&value.node};
        if (value.node.kind == YamlNode::Kind::list) items = value.node.items;
        std::array<std::uint32_t, 3> read{1, 1, 1};
        bool good = !items.empty() && items.size() <= read.size();
        for (std::size_t i = 0; good && i < items.size(); ++i) {
            const std::optional<std::int64_t> extent = integer_of(*items[i]);
            good = extent && *extent >= 1 && *extent <= std::numeric_limits<std::int32_t>::max();
            if (good) read[i] = static_cast<std::uint32_t>(*extent);
        }
        if (good) {
            size = read;
        } else {
            add_wrong_type(value.node, value.key, "1 to 3 integers of at least 1, such as [64, 2]",
                           value.problems);
        }
    }

    /// The label that "step.gpu_time" begins with; the program's is added when it is first used.
    Label* label_of(const YamlNode& key) {
        const std::string& text = key.text;
        const std::string name =
            text.substr(0, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-"));
        const auto found = std::ranges::find(read_.labels, name, &Label::name);
        if (found != read_.labels.end()) return &*found;
        if (name == program_label) return &add_label(name, {}, key.at);
        std::vector<std::string> names{std::string(program_label)};
        for (const Label& label : read_.labels) names.push_back(label.name);
        problems_.add_unknown(key.at, "label", name, names);
        return nullptr;
    }

    void expect(const YamlNode& node) {
        read_.expect = &node;
        for (const YamlNode::Entry& entry : node.entries) {
            Label* label = label_of(*entry.key);
            if (label != nullptr) label->expected = true;
            wrong_gates_ = wrong_gates_ || label == nullptr;
            ask_for_metrics(*entry.key, true);
            ask_for_metrics(*entry.value, false);
            for (const YamlNode* each : entry.value->items) ask_for_metrics(*each, false);
        }
    }

    /// Whether something gates any label, and each key of a label has something to do.
    void check_gates(Position at) {
        const auto is_gated = [](const Label& label) {
            return label.expected || !label.settings.tolerances.empty();
        };
        const bool any = std::ranges::any_of(read_.labels, is_gated);
        for (Label& label : read_.labels) {
            label.settings.cross_board = cross_board_;
            if (is_gated(label) || wrong_gates_) continue;
            if (any) {
                label.expected = true;  // it documents what the gated ones are a part of
                continue;
            }
            problems_.add(
                label.at,
                "nothing gates {}; expected a tolerance such as {}.gpu_time: 3%, or an expectation",
                in_quotes(label.name), label.name);
        }
        if (!counts_.empty() && !wrong_gates_ && !any_counters()) {
            problems_.add(counts_.front(),
                          "'count' without a counter; expected one in 'tolerances' or in the "
                          "command's own 'expect', such as flash.dram_bytes: 1%");
        }
        if (read_.labels.empty() && !wrong_gates_ && !is_measured_) {
            problems_.add(at,
                          "nothing of the program is gated; expected 'measure' and 'tolerances', "
                          "or a tolerance such as program.gpu_time: 3%");
        }
    }

    void health(const YamlNode& node) {
        const std::size_t before = problems_.count();
        if (node.kind == YamlNode::Kind::map && !node.entries.empty()) {
            for (const YamlNode::Entry& entry : node.entries) {
                add_health(*entry.key, entry.value);
            }
        } else {
            for (const YamlNode* item : read_list(
                     node, "health", "labels of ranges, or a map from them to limits", problems_)) {
                if (const auto name = read_slug(*item, "health", problems_)) {
                    add_health(*item, nullptr);
                }
            }
        }
        wrong_gates_ = wrong_gates_ || problems_.count() != before;
    }

    void add_health(const YamlNode& name, const YamlNode* limits) {
        Label* label = label_of(name);
        if (label == nullptr) return;
        if (label->name != name.text || label->piece.kind != command::Piece::Kind::range) {
            problems_.add(name.at,
                          "{} in 'health' is no label of NVTX ranges; expected one, such as step: "
                          "{{nvtx: step}}",
                          in_quotes(name.text));
            return;
        }
        auto stated = health_of(command_ + '/' + label->name, limits, name.at, problems_);
        label->expected = label->expected || !stated.empty();
        read_.health.insert(read_.health.end(), std::make_move_iterator(stated.begin()),
                            std::make_move_iterator(stated.end()));
    }

    void tolerances(const YamlNode& node) {
        if (node.kind != YamlNode::Kind::map) {
            if (!is_benchmark_) {
                add_wrong_type(node, "tolerances", "a map from label.metric to tolerance",
                               problems_);
            }
            wrong_gates_ = true;
            return;
        }
        for (const YamlNode::Entry& entry : node.entries) {
            if (is_benchmark_ && !is_of_label(entry.key->text)) continue;
            const std::size_t before = problems_.count();
            tolerance(entry);
            wrong_gates_ = wrong_gates_ || problems_.count() != before;
        }
    }

    void tolerance(const YamlNode::Entry& entry) {
        const std::string& key = entry.key->text;
        if (!is_of_label(key)) {
            problems_.add(entry.key->at,
                          "{} in 'tolerances'; expected label.metric, such as step.gpu_time",
                          in_quotes(key));
            return;
        }
        Label* label = label_of(*entry.key);
        if (label == nullptr) return;
        const std::string name = key.substr(key.find('.') + 1);
        if (is_by_name_only(name) && !ask_for(*label, name, entry.key->at)) return;
        std::vector<std::string> names = label->settings.metrics->names;
        if (std::ranges::find(names, name) == names.end()) {
            if (label->piece.kind == command::Piece::Kind::kernels) names.emplace_back(stack);
            problems_.add_unknown(entry.key->at,
                                  fmt::format("metric of {}:", in_words(label->piece.kind)), name,
                                  names);
            return;
        }
        if (const auto read = read_tolerance_entry(entry, *metrics::find_metric(name), problems_)) {
            label->settings.tolerances.emplace(name, *read);
        }
    }

    // --- counters and `stack`: naming one asks for it

    static bool is_by_name_only(const std::string& name) {
        return name == stack || is_counter(name) || is_sampled(name);
    }

    /// Over time, of ranges and programs.
    static bool is_sampled(const std::string& name) {
        const std::optional<metrics::Metric> metric = metrics::find_metric(name);
        return metric && metric->sampled;
    }

    static bool is_counter(const std::string& name) {
        const std::optional<metrics::Metric> metric = metrics::find_metric(name);
        return metric && metric->source == metrics::Source::counter;
    }

    /// False, and a problem, if the label is not one of kernels.
    bool ask_for(Label& label, const std::string& metric, Position at) {
        const bool of_kernels = label.piece.kind == command::Piece::Kind::kernels;
        if (of_kernels && !is_counter(metric) && metric != stack) {
            problems_.add(at, "{} of a label of kernels; expected it of a range or of the program",
                          in_quotes(metric));
            return false;
        }
        if (!of_kernels && !is_sampled(metric)) {
            problems_.add(at,
                          "{} of {}; it is collected of kernels, expected a label with 'kernel'",
                          in_quotes(metric), in_words(label.piece.kind));
            return false;
        }
        std::vector<std::string>& names = label.settings.metrics->names;
        if (std::ranges::find(names, metric) == names.end()) {
            names.push_back(metric);
            label.settings.of_kernels.push_back(metric);
        }
        return true;
    }

    /// Those that an expectation names: "flash.dram_bytes" at the beginning of its left side, and
    /// "train/flash.dram_bytes" anywhere.
    void ask_for_metrics(const YamlNode& node, bool left_side) {
        if (node.kind != YamlNode::Kind::scalar) return;
        constexpr std::string_view of_metric =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
        const std::string& text = node.text;
        for (std::size_t i = 0; i < read_.labels.size(); ++i) {
            Label& label = read_.labels[i];
            const std::string own = label.name + '.';
            const std::string full = command_ + '/' + own;
            const auto take = [&](std::size_t begin) {
                const std::size_t end = text.find_first_not_of(of_metric, begin);
                const std::string name = text.substr(begin, std::min(end, text.size()) - begin);
                if (is_by_name_only(name) && !ask_for(label, name, node.at)) wrong_gates_ = true;
            };
            if (left_side && text.starts_with(own)) take(own.size());
            for (std::size_t at = text.find(full); at != std::string::npos;
                 at = text.find(full, at + 1)) {
                take(at + full.size());
            }
        }
    }

    [[nodiscard]] bool any_counters() const {
        return std::ranges::any_of(read_.labels, [](const Label& label) {
            if (label.piece.kind != command::Piece::Kind::kernels) return false;
            const auto& names = label.settings.metrics->names;
            return std::ranges::any_of(names, is_counter);
        });
    }

    const Fields& fields_;
    const std::string& command_;
    bool is_benchmark_;
    Problems& problems_;
    ReadLabels read_;
    bool wrong_gates_ = false;
    bool is_measured_ = false;  ///< the entry has 'measure'
    std::optional<double> cross_board_;
    std::vector<Position> counts_;  ///< of the keys 'count'
};

}  // namespace

const std::vector<Compared<Program>>& label_keys() {
    static const std::vector<Compared<Program>> keys(LabelReader::keys().begin(),
                                                     LabelReader::keys().end());
    return keys;
}

std::vector<KeyText> tables::label() {
    return texts_of(LabelReader::label_text_keys());
}

ReadLabels read_labels(const Fields& fields, const std::string& command, bool is_benchmark,
                       Position at, Problems& problems) {
    return LabelReader(fields, command, is_benchmark, problems).read(at);
}

}  // namespace perfgate::suite
