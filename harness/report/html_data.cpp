// SPDX-License-Identifier: Apache-2.0
#include "report/html_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "model/quantity.hpp"
#include "model/roofline.hpp"
#include "model/sorted_walk.hpp"
#include "report/commands.hpp"
#include "report/formats.hpp"
#include "report/html.hpp"
#include "report/joined.hpp"
#include "report/plain_text.hpp"
#include "report/summary.hpp"
#include "util/text.hpp"

namespace perfgate::report {

namespace {

using page::Number;

constexpr std::size_t longest_log = 16384;

/// How many samples of a batch are shown, evenly spaced in sorted order: quartiles for a case that
/// passed, enough to recognise two modes for the others.
constexpr std::size_t few_samples = 5;
constexpr std::size_t many_samples = 33;

/// Everything that the page has goes through this.
std::string_view clean(std::string_view text, std::string& room) {
    return plain_line(text, longest_line, room);
}

std::string_view outcome_text(model::Outcome outcome) {
    return util::word_of<model::Outcome::error>(outcome, {"pass", "skipped", "failure", "error"});
}

/// The verdicts in their order, then two for what is inconclusive with an outcome of its own: a
/// metric that is not shown to be within its tolerance, and one that others' work may explain.
std::vector<page::Verdict> verdicts_of(const model::Policy& policy) {
    std::vector<page::Verdict> verdicts;
    const auto add = [&](std::string_view name, model::Verdict verdict, model::Outcome outcome) {
        verdicts.push_back(
            {std::string(name), severity(verdict), std::string(outcome_text(outcome))});
    };
    for (int i = 0; i <= static_cast<int>(model::worst_verdict); ++i) {
        const auto verdict = static_cast<model::Verdict>(i);
        add(to_text(verdict), verdict, outcome_of(verdict, policy));
    }
    for (const model::Doubt doubt : {model::Doubt::not_shown, model::Doubt::other_work}) {
        model::MetricVerdict doubted;
        doubted.verdict = model::Verdict::inconclusive;
        doubted.doubt = doubt;
        add(to_text(doubt), doubted.verdict, outcome_of(doubted, policy));
    }
    return verdicts;
}

/// Of a case or metric.
Number verdict_number(const auto& of, const model::Policy& policy) {
    const auto number = static_cast<Number>(of.verdict);
    if (of.verdict != model::Verdict::inconclusive) return number;
    constexpr auto worst = static_cast<Number>(model::worst_verdict);
    if (of.doubt == model::Doubt::other_work) {
        // A gate that only warns lets it through.
        return outcome_of(of, policy) == model::Outcome::failure ? worst + 2 : number;
    }
    const bool not_shown = of.doubt == model::Doubt::not_shown ||
                           (model::is_not_shown(of.doubt) && policy.not_shown_fails);
    return not_shown ? worst + 1 : number;
}

std::string list_text(const std::vector<std::string>& texts) {
    return fmt::format("{}", fmt::join(texts, ", "));
}

/// Rows of a label and text: device, tools, clocks, machine, command. What is not known has no row.
std::vector<std::array<std::string, 2>> facts_of(const model::VerdictDocument& document,
                                                 const model::Run& run) {
    std::vector<std::array<std::string, 2>> facts;
    const auto add = [&](const char* label, const std::string& value) {
        if (!plain_line(value, longest_line).empty()) facts.push_back({label, value});
    };
    const auto add_reading = [&](const char* label, const std::optional<double>& before,
                                 const std::optional<double>& after, const char* unit) {
        const auto words = [&](const std::optional<double>& value) {
            return value ? fmt::format("{:.0f} {}", *value, unit) : "unknown";
        };
        if (before || after) add(label, words(before) + " → " + words(after));
    };
    const auto count = [](std::int64_t value) { return value > 0 ? std::to_string(value) : ""; };
    const model::Environment& environment = document.environment;
    const model::Device& device = environment.device;
    const model::BoardState& before = environment.before;
    const model::BoardState& after = environment.after;
    add("device", device.name);
    add("device key", device.key);
    add("board", device.board);
    add("MIG profile", device.mig_profile);
    add("compute capability", device.compute_capability);
    add("chip", device.chip);
    if (device.memory_bytes > 0) {
        add("memory", model::quantity_text(static_cast<double>(device.memory_bytes), "bytes"));
    }
    add(device.chip.empty() ? "logical cores" : "SMs", count(device.multiprocessors));
    add("ceilings", model::in_words(environment.ceilings));
    add("ceilings missing", environment.ceilings.problem);
    add("driver", environment.driver);
    add("CUDA of the driver", environment.cuda_driver);
    add("CUDA toolkit", environment.cuda_toolkit);
    add("CUPTI", environment.cupti);
    add_reading("SM clock", before.sm_clock_mhz, after.sm_clock_mhz, "MHz");
    add_reading("memory clock", before.memory_clock_mhz, after.memory_clock_mhz, "MHz");
    add_reading("temperature", before.temperature_c, after.temperature_c, "°C");
    add_reading("power", before.power_w, after.power_w, "W");
    add_reading("power limit", before.power_limit_w, after.power_limit_w, "W");
    add("throttled before", list_text(before.throttle_reasons));
    add("throttled after", list_text(after.throttle_reasons));
    add("other processes before", list_text(before.other_processes));
    add("other processes after", list_text(after.other_processes));
    add("operating system", environment.os);
    add("kernel", environment.kernel);
    add("CPU", environment.cpu);
    add("CPU cores", count(environment.cores));
    add("backend", document.backend);
    add("perfgate", document.tool_version);
    add("pull request", run.pull_request);
    add("revision", revision_text(run.git_revision));
    add("compared with", baselines_text(document, run.git_revision));
    add("began", document.started_at);
    add("took", fmt::format("{:.1f} s", document.wall_s));
    return facts;
}

model::Ceilings measured(const model::Ceilings& ceilings) {
    const auto usual = [](double rate) { return std::isfinite(rate) && rate > 0; };
    model::Ceilings found;
    if (usual(ceilings.copy_bytes_per_s)) found.copy_bytes_per_s = ceilings.copy_bytes_per_s;
    for (const auto& [type, rate] : ceilings.matrix_flops_per_s) {
        if (usual(rate)) found.matrix_flops_per_s.emplace(type, rate);
    }
    return found;
}

page::Suite suite_of(const model::SuiteVerdict& suite) {
    page::Suite made{
        suite.name, counts_text(suite), suite.baseline_file, relations_text(suite), {}};
    for (const model::RelationVerdict& relation : suite.relations) {
        made.relations.push_back({static_cast<Number>(relation.verdict),
                                  std::string(relation_word(relation.verdict)),
                                  relation_name(relation), relation.sentence});
    }
    return made;
}

/// With seven digits, unless it is an integer: a chart shows fewer, and the data is a quarter less.
double shown_digits(double value) {
    if (!std::isfinite(value) || value == std::trunc(value)) return value;
    const double unit = std::pow(10.0, 6 - std::floor(std::log10(std::fabs(value))));
    if (!std::isfinite(unit)) return value;
    return unit >= 1 ? std::round(value * unit) / unit : std::round(value);
}

std::vector<double> finite(const std::vector<double>& values) {
    std::vector<double> kept;
    for (const double value : values) {
        if (std::isfinite(value)) kept.push_back(shown_digits(value));
    }
    return kept;
}

/// Up to `most` of the samples, smallest to largest, evenly spaced in that order.
std::vector<double> shown_samples(const model::Batch& batch, std::size_t most) {
    std::vector<double> sorted = finite(batch.samples);
    std::sort(sorted.begin(), sorted.end());
    if (sorted.size() <= most) return sorted;
    std::vector<double> shown;
    shown.reserve(most);
    for (std::size_t i = 0; i < most; ++i) {
        shown.push_back(sorted[(i * (sorted.size() - 1) + (most - 1) / 2) / (most - 1)]);
    }
    return shown;
}

/// Makes cases one by one and collects what they share.
class CaseMaker {
  public:
    CaseMaker(const model::Policy& policy, const model::Run& run, page::Data& data)
        : policy_(policy), run_(run), data_(data) {}

    page::Case make(const JoinedCase& joined, Number suite) {
        using model::Verdict;
        const model::CaseVerdict& verdict = *joined.verdict;
        page::Case made;
        made.suite = suite;
        made.id = verdict.id;
        made.workload = text(verdict.workload);
        made.verdict = verdict_number(verdict, policy_);
        made.place = place_text(verdict.place);
        made.compared_with = baseline_text(verdict);
        if (verdict.verdict != Verdict::pass) made.reasons = reasons(verdict, policy_);
        if (needs_attention(verdict.verdict)) {
            made.first = first_reason(verdict);
            if (!verdict.why.empty()) made.first += in_kernel(verdict);
        }
        for (const model::Cause& cause : verdict.why) made.why.push_back(cause.sentence);
        made.notes = verdict.notes;
        made.log.text = plain_tail(verdict.log, longest_log);
        if (verdict.code != model::CodeChange::unknown) made.code = to_text(verdict.code);
        if (verdict.ceiling) made.roof = in_words(*verdict.ceiling);
        made.wall_s = verdict.wall_s;
        if (joined.result != nullptr) add_result(*joined.result, made);
        if (std::string prepared = preparation_of(joined); !prepared.empty()) {
            made.notes.push_back(std::move(prepared));
        }
        if (const std::optional<Value> shown = find_deciding(joined)) {
            made.shown = metric(shown->metric, shown->unit);
        }
        const std::size_t samples = needs_attention(verdict.verdict) ? many_samples : few_samples;
        auto known = verdict.baseline_values.begin();  // sorted by name, like the rows
        for (const MetricRow& row : metric_rows(joined)) {
            page::Value& value = made.values.emplace_back(value_of(row));
            if (row.verdict == nullptr &&
                model::advance_to(row.metric, known, verdict.baseline_values.end())) {
                value.before = known->second;
            }
            ValueTexts texts = texts_of(value.before, value.after, row.unit);
            value.before_text = std::move(texts.before);
            value.after_text = std::move(texts.after);
            value.moved = std::move(texts.moved);
            if (joined.result != nullptr) add_limits(row, joined.result->gates, value);
            for (std::optional<double>* number :
                 {&value.before, &value.after, &value.least, &value.most}) {
                if (*number) *number = shown_digits(**number);
            }
            if (has_spread(row)) made.spreads.push_back(spread_of(row, value.metric, samples));
        }
        return made;
    }

  private:
    Number text(std::string_view words) {
        const auto [known, is_new] = texts_.try_emplace(std::string(words), data_.texts.size());
        if (is_new) data_.texts.emplace_back(words);
        return known->second;
    }
    std::vector<Number> texts(const std::vector<std::string>& list) {
        std::vector<Number> numbers(list.size());
        std::ranges::transform(list, numbers.begin(), [&](const auto& each) { return text(each); });
        return numbers;
    }
    const model::MetricDefinition* definition_of(std::string_view name) const {
        const auto found = run_.metric_definitions.find(std::string(name));
        return found == run_.metric_definitions.end() ? nullptr : &found->second;
    }
    /// If a hand-written document has two units for one name, the first is used.
    Number metric(std::string_view name, std::string_view unit) {
        const auto [known, is_new] = metrics_.try_emplace(std::string(name), data_.metrics.size());
        if (is_new) {
            const model::MetricDefinition* definition = definition_of(name);
            data_.metrics.push_back({std::string(name), std::string(unit),
                                     definition != nullptr ? definition->description : ""});
        }
        return known->second;
    }

    void add_result(const model::CaseResult& result, page::Case& made) {
        made.tags = texts(result.tags);
        made.not_applicable = texts(result.not_applicable);
        if (result.verification) made.verified = result.verification->detail;
        made.work = result.work;
        for (const model::Kernel& kernel : result.kernels) {
            made.kernel_names.push_back(text(kernel.name));
            model::Kernel& shown = made.kernels.emplace_back(kernel);
            for (std::string* unused : {&shown.name, &shown.code, &shown.arguments}) {
                unused->clear();
            }
            shown.argument_words.clear();
            shown.metrics.clear();
            shown.source = {};
        }
    }

    page::Value value_of(const MetricRow& row) {
        page::Value value;
        value.metric = metric(row.metric, row.unit);
        value.after = row.measured();
        if (row.verdict == nullptr) {
            if (row.not_collected != nullptr) {
                value.sentence =
                    fmt::format("{} was not collected: {}", row.metric, row.not_collected->reason);
            }
            return value;
        }
        const model::MetricVerdict& verdict = *row.verdict;
        value.before = verdict.baseline;
        value.verdict = verdict_number(verdict, policy_);
        value.tolerance = text(verdict.tolerance);
        if (verdict.interval) {
            value.interval =
                fmt::format("{:g} % interval {}", 100 * verdict.interval->level,
                            model::interval_text(verdict.interval->low, verdict.interval->high));
        }
        if (verdict.verdict != model::Verdict::pass) value.sentence = sentence_of(verdict);
        return value;
    }

    /// The least and the most that the tolerance of a gated time allows.
    static void add_limits(const MetricRow& row, const std::vector<model::GateRule>& gates,
                           page::Value& value) {
        if (row.verdict == nullptr || !row.verdict->baseline || row.unit != "ns") return;
        const auto gate = std::find_if(gates.begin(), gates.end(),
                                       [&](const auto& rule) { return rule.metric == row.metric; });
        // On another board more is allowed than the rule says.
        if (gate == gates.end() ||
            row.verdict->tolerance.find("another board") != std::string::npos) {
            return;
        }
        const model::Tolerance& tolerance = gate->tolerance;
        const double before = *row.verdict->baseline;
        const auto allowed = [&](double fraction) {
            return std::max(fraction * std::fabs(before), tolerance.abs);
        };
        value.least = before - allowed(tolerance.better.value_or(tolerance.worse));
        value.most = before + allowed(tolerance.worse);
    }

    /// Timings have one, and other metrics that were judged by their spread.
    bool has_spread(const MetricRow& row) const {
        if (row.verdict != nullptr &&
            (!row.verdict->baseline_batches.empty() || !row.verdict->measured_batches.empty())) {
            return true;
        }
        const model::MetricDefinition* definition = definition_of(row.metric);
        return definition != nullptr && definition->metric_class == model::MetricClass::timing &&
               row.series != nullptr && !row.series->batches.empty();
    }

    page::Spread spread_of(const MetricRow& row, Number metric, std::size_t samples) {
        page::Spread spread;
        spread.metric = metric;
        if (row.verdict != nullptr) {
            spread.baseline = finite(row.verdict->baseline_batches);
            spread.measured = finite(row.verdict->measured_batches);
        }
        if (row.series == nullptr) return spread;
        spread.method = text(to_text(row.series->method));
        for (const model::Batch& batch : row.series->batches) {
            page::Batch& shown = spread.batches.emplace_back();
            shown.process = batch.process;
            shown.round = batch.round;
            shown.count = static_cast<std::int64_t>(batch.samples.size());
            shown.samples = shown_samples(batch, samples);
            if (batch.sm_clock_mhz) shown.sm_clock_mhz = shown_digits(*batch.sm_clock_mhz);
            if (!batch.excluded.empty()) shown.excluded = text(batch.excluded);
        }
        return spread;
    }

    const model::Policy& policy_;
    const model::Run& run_;
    page::Data& data_;
    std::unordered_map<std::string, Number> texts_, metrics_;
};

/// Of a case whose verdict is explained by it: the code was compared with this baseline's.
std::vector<page::CodeKernel> code_of(const CodeViews* views, const std::string& suite,
                                      const model::CaseVerdict& verdict) {
    const bool explained =
        std::any_of(verdict.why.begin(), verdict.why.end(),
                    [](const model::Cause& cause) { return cause.rule == "machine_code"; });
    if (views == nullptr || !explained) return {};
    const auto found = views->cases.find({suite, verdict.id});
    return found == views->cases.end() ? std::vector<page::CodeKernel>() : found->second;
}

std::string json_text(const model::VerdictDocument& document, const model::Run& run,
                      const Options& options) {
    const std::vector<JoinedSuite> suites = join(document, run);
    page::Data data;
    data.summary = document.summary;
    data.counts = counts_text(document);
    data.exit_code = document.exit_code;
    data.verify_only = run.verify_only;
    data.facts = facts_of(document, run);
    for (const Command& command : next_commands(document, options)) {
        data.commands.push_back({std::string(command.purpose), {command.line}});
    }
    for (const RunNote& note : notes_of(document)) {
        data.notes.push_back({std::string(note.text), {note.suites.begin(), note.suites.end()}});
    }
    data.ceilings = measured(document.environment.ceilings);
    data.verdicts = verdicts_of(document.policy);
    CaseMaker maker(document.policy, run, data);
    for (const JoinedSuite& suite : suites) {
        const auto number = static_cast<Number>(data.suites.size());
        data.suites.push_back(suite_of(*suite.verdict));
        for (const JoinedCase& joined : suite.cases) {
            data.cases.push_back(maker.make(joined, number));
            data.cases.back().machine_code =
                code_of(options.code, suite.verdict->name, *joined.verdict);
        }
    }
    document::JsonWriter json(document::JsonLayout::compact, 0, clean);
    write(json, data);
    return json.finish();
}

}  // namespace

std::string html_data(const model::VerdictDocument& document, const model::Run& run,
                      const Options& options) {
    std::string data;
    append_fit_for_script(data, json_text(document, run, options));
    return data;
}

std::string write_html(const model::VerdictDocument& document, const model::Run& run,
                       const Options& options) {
    return fill_page(report_page(), json_text(document, run, options));
}

}  // namespace perfgate::report
