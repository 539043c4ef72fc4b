// SPDX-License-Identifier: Apache-2.0
#include "runner/imported.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

#include "document/json_reader.hpp"
#include "document/run.hpp"
#include "explain/explain.hpp"
#include "gate/baseline_set.hpp"
#include "gate/batch_rule.hpp"
#include "gate/gate.hpp"
#include "kinds/benchmark/formats/formats.hpp"
#include "metrics/catalogue.hpp"
#include "model/benchmark_instance.hpp"
#include "model/case.hpp"
#include "runner/clock.hpp"
#include "runner/run_file.hpp"
#include "stats/quantiles.hpp"
#include "suite/settings.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

/// A machine as a board: equal for files from one machine, without its name.
std::string board_of(const std::string& machine) {
    if (machine.empty()) return "imported";
    util::Sha256 sum;
    sum.add(machine);
    return sum.fingerprint();
}

const benchmark::Format& format_of(const std::string& text, const std::string& file,
                                   const ImportChoice& choice) {
    const benchmark::Format* format = choice.format.empty()
                                          ? benchmark::recognised(text, util::printable(file))
                                          : benchmark::find_format(choice.format);
    if (format == nullptr) {
        throw util::InputError(fmt::format(
            "{}: no run document, and no results in a format that is recognised (--format names "
            "it)",
            util::printable(file)));
    }
    if (format->metrics.empty()) {
        throw util::InputError(
            fmt::format("--format {}: its columns or paths are stated in a suite: run the "
                        "benchmark with 'perfgate run'",
                        format->name));
    }
    return *format;
}

std::filesystem::path folder_of(const std::string& file) {
    return std::filesystem::absolute(file).parent_path();
}

std::string device_words(const std::string& device) {
    return device.empty() ? "a device that it does not name" : util::printable(device, 300);
}

class Import {
  public:
    Import(std::size_t files, const ImportChoice& choice) : files_(files), choice_(choice) {}

    void add(const std::string& file) {
        const std::string text = util::read_file(file, benchmark::most_bytes, "results");
        distinct_.add(file, text);
        const benchmark::Format& format = format_of(text, file, choice_);
        benchmark::Layout reading;
        reading.format = format.name;
        const benchmark::Results read =
            benchmark::read_results(text, util::printable(file), reading, folder_of(file));
        require_one_device(file, read.device);
        const std::string board = board_of(read.machine);
        if (process_ == 0) board_ = board;
        first_of_host_.try_emplace(board, file);
        for (const benchmark::Result& result : read.results) {
            add(file, format, read.notes, board, result);
        }
        ++process_;
    }

    model::Run take(const std::string& first_file) {
        model::Run run;
        run.tool_version = PERFGATE_VERSION;
        run.started_at = utc_now();
        run.backend = "imported";
        run.environment.device.key = choice_.device_key;
        run.environment.device.name = device_.empty() ? choice_.device_key : device_;
        run.environment.device.board = board_;
        model::SuiteResult suite;
        suite.name = choice_.suite;
        suite.file = first_file;
        for (Imported& each : cases_) {
            conclude(each);
            for (const auto& [metric, series] : each.result.metrics) {
                run.metric_definitions[metric] = metrics::find_metric(metric)->definition;
            }
            suite.cases.push_back(std::move(each.result));
        }
        run.suites.push_back(std::move(suite));
        return run;
    }

  private:
    struct Imported {
        model::CaseResult result;
        std::size_t files = 0;
        std::size_t skipped = 0;  ///< by the benchmark, in so many files
        std::string problem;
    };

    /// Values of two devices are no processes of one.
    void require_one_device(const std::string& file, const std::string& device) {
        if (process_ == 0) {
            device_ = device;
            first_file_ = file;
        }
        if (device == device_) return;
        throw util::InputError(
            fmt::format("{} was measured on {}, and {} on {}: name files of one device",
                        util::printable(first_file_), device_words(device_), util::printable(file),
                        device_words(device)));
    }

    void add(const std::string& file, const benchmark::Format& format,
             const std::vector<std::string>& notes, const std::string& board,
             const benchmark::Result& found) {
        const auto [place, added] = places_.try_emplace(benchmark::id_of(found), cases_.size());
        if (added) cases_.push_back(fresh(file, format, found));
        Imported& imported = cases_[place->second];
        ++imported.files;
        if (!found.skipped.empty()) {
            ++imported.skipped;
            imported.result.reason = found.skipped;
        }
        if (!found.problem.empty() && imported.problem.empty()) {
            imported.problem = fmt::format("{}: {}", util::printable(file), found.problem);
        }
        for (const std::string& note : notes) {
            auto& known = imported.result.notes;
            if (std::find(known.begin(), known.end(), note) == known.end()) known.push_back(note);
        }
        for (const auto& [metric, samples] : found.metrics) {
            model::MetricSeries& series = imported.result.metrics[metric];
            if (!series.method.source.empty() && series.method != samples.method &&
                imported.problem.empty()) {
                imported.problem = fmt::format(
                    "{}: {} was obtained by {} and in another file by {}", util::printable(file),
                    metric, to_text(samples.method), to_text(series.method));
            }
            series.method = samples.method;
            series.unit = metrics::find_metric(metric)->definition.unit;
            series.batches.push_back({process_, board, 0, samples.values});
        }
    }

    Imported fresh(const std::string& file, const benchmark::Format& format,
                   const benchmark::Result& found) const {
        Imported imported;
        imported.result.spec = {choice_.name, found.name, found.params, model::Cache::cold};
        imported.result.place.file = file;
        // Like a program's: nothing verifies it, and there is no code to compare.
        imported.result.command = {std::string(format.name)};
        imported.result.instance = model::benchmark_instance;
        imported.result.gates.push_back({std::string(format.metrics.front()),
                                         model::Tolerance{choice_.tolerance, {}, 0},
                                         suite::default_cross_board});
        return imported;
    }

    /// Names the files; the hosts' names are not stored.
    std::string hosts_note() const {
        if (first_of_host_.size() < 2) return {};
        std::vector<std::string> files;
        for (const auto& [host, file] : first_of_host_) files.push_back(util::printable(file));
        std::sort(files.begin(), files.end());
        return fmt::format("the files were measured on {} hosts; the first file of each: {}",
                           first_of_host_.size(), fmt::join(files, ", "));
    }

    /// Every file must have the case, with every metric.
    void conclude(Imported& imported) const {
        model::CaseResult& result = imported.result;
        if (std::string note = hosts_note(); !note.empty()) {
            result.notes.push_back(std::move(note));
        }
        if (imported.problem.empty() && imported.files != files_) {
            imported.problem =
                fmt::format("only {} of {} files have this case", imported.files, files_);
        }
        if (imported.problem.empty() && imported.skipped == files_) {
            result.status = model::CaseStatus::skipped;
            return;
        }
        if (imported.problem.empty() && imported.skipped > 0) {
            imported.problem = fmt::format("skipped in {} of {} files: {}", imported.skipped,
                                           files_, result.reason);
        }
        for (auto& [metric, series] : result.metrics) {
            if (imported.problem.empty() && series.batches.size() != files_) {
                imported.problem = fmt::format("only {} of {} files have its {}",
                                               series.batches.size(), files_, metric);
            }
            series.value = stats::median(all_samples(series));
        }
        if (imported.problem.empty()) {
            result.status = model::CaseStatus::measured;
            return;
        }
        model::set_error(result, imported.problem);
    }

    std::size_t files_;
    const ImportChoice& choice_;
    DistinctFiles distinct_;
    std::int64_t process_ = 0;
    std::string board_, device_, first_file_;
    std::map<std::string, std::string> first_of_host_;
    std::map<std::string, std::size_t> places_;
    std::vector<Imported> cases_;
};

/// By suite and id.
using Cases = std::map<std::string, const model::CaseResult*>;

Cases cases_of(const model::Run& run) {
    Cases cases;
    for (const model::SuiteResult& suite : run.suites) {
        for (const model::CaseResult& result : suite.cases) {
            cases.emplace(suite.name + ' ' + model::case_id(result.spec), &result);
        }
    }
    return cases;
}

}  // namespace

model::Run import_results(const std::vector<std::string>& files, const ImportChoice& choice) {
    Import import(files.size(), choice);
    for (const std::string& file : files) import.add(file);
    return import.take(files.front());
}

std::string schema_of(const std::string& file) {
    const std::string text = util::read_file(file, run_limit_bytes, "run or results");
    const document::JsonDocument document(text, util::printable(file));
    if (document.root().kind() != document::JsonKind::object) return {};
    const std::optional<document::JsonValue> schema = document.root().find("schema");
    return schema ? std::string(schema->text()) : std::string();
}

model::Run read_run_or_results(const std::vector<std::string>& files, const ImportChoice& choice) {
    if (files.size() == 1 && choice.format.empty() && !schema_of(files.front()).empty()) {
        return read_run(files.front());
    }
    return import_results(files, choice);
}

namespace {

/// Refuses the comparison, and names the option that shows both.
[[noreturn]] void refuse_to_judge(std::string_view what, std::string_view of_base,
                                  std::string_view of_head) {
    throw util::InputError(fmt::format(
        "base and head cannot be compared: {} is {} in the base and {} in the head; "
        "measure both alike, or show them side by side with 'perfgate report --base … --head …'",
        what, of_base, of_head));
}

/// Two builds of the benchmark library say nothing about the code.
void require_one_build(const model::CaseResult& base, const model::CaseResult& head) {
    const auto words = [](bool debug) { return debug ? "a debug build" : "a release build"; };
    for (const auto& [metric, series] : head.metrics) {
        const auto before = base.metrics.find(metric);
        if (before == base.metrics.end()) continue;
        const bool was = before->second.method.debug_build;
        const bool is = series.method.debug_build;
        if (was != is) refuse_to_judge("the benchmark library", words(was), words(is));
    }
}

}  // namespace

int judge_against(const model::Run& base, const std::string& base_name, const model::Run& head,
                  const model::Policy& policy, const OutputOptions& reports) {
    const auto differs = gate::device_difference(head.environment.device, base.environment.device);
    if (differs) refuse_to_judge(differs->field, differs->then, differs->now);
    const Cases of_base = cases_of(base);
    bool common = false;
    for (const auto& [id, result] : cases_of(head)) {
        const auto before = of_base.find(id);
        if (before == of_base.end()) continue;
        common = true;
        require_one_build(*before->second, *result);
    }
    if (!common) {
        throw util::InputError("base and head have no case in common: nothing can be compared");
    }
    model::VerdictDocument document = gate::judge(
        head, gate::baselines_of(base, "base " + base_name), policy, gate::BatchRule(policy));
    explain::explain(head, explain::Which::moved, document);
    return model::combine_exit_codes(document.exit_code, write_reports(document, head, reports));
}

}  // namespace perfgate::runner
