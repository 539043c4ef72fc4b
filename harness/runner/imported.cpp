// SPDX-License-Identifier: Apache-2.0
#include "runner/imported.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "document/json_reader.hpp"
#include "explain/explain.hpp"
#include "gate/baseline_set.hpp"
#include "gate/batch_rule.hpp"
#include "gate/gate.hpp"
#include "gate/renames.hpp"
#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/kinds.hpp"
#include "measure/preparation.hpp"
#include "metrics/catalogue.hpp"
#include "model/benchmark_settings.hpp"
#include "model/case.hpp"
#include "model/plan.hpp"
#include "runner/run_file.hpp"
#include "stats/quantiles.hpp"
#include "suite/plan.hpp"
#include "suite/problems.hpp"
#include "suite/settings.hpp"
#include "suite/suite.hpp"
#include "suite/suite_checks.hpp"
#include "suite/yaml_reader.hpp"
#include "traces/traces.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

/// A machine as a board: equal for files from one machine, without its name.
std::string board_of(const std::string& machine) {
    return machine.empty() ? "imported" : util::fingerprint_of(machine);
}

const benchmark::Format& format_of(const std::string& text, const std::string& file,
                                   const ImportChoice& choice) {
    const benchmark::Format* format = choice.format.empty()
                                          ? benchmark::recognised(text, util::printable(file))
                                          : benchmark::find_format(choice.format);
    if (format == nullptr) {
        throw util::InputError(
            "{}: no run document, and no results in a format that is recognised (--format names "
            "it)",
            util::printable(file));
    }
    if (format->metrics.empty()) {
        throw util::InputError(
            "--format {}: a suite states its columns or paths: name it with --suite FILE",
            format->name);
    }
    return *format;
}

void refuse_run_document(const std::string& file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) return;
    std::string beginning(4096, '\0');
    std::ifstream stream(file, std::ios::binary);
    stream.read(beginning.data(), std::ssize(beginning));
    const std::string schema = "perfgate.run";
    if (beginning.find(schema) == std::string::npos || schema_of(file) != schema) return;
    throw util::InputError(
        "{}: a run document among results: name it alone, without --suite and --format",
        util::printable(file));
}

std::filesystem::path folder_of(const std::string& file) {
    return std::filesystem::absolute(file).parent_path();
}

/// Values of two devices are no processes of one.
void require_one_device(const std::string& first, const std::string& then, const std::string& file,
                        const std::string& now) {
    const auto words = [](const std::string& device) {
        return device.empty() ? "a device that it does not name" : util::printable(device, 300);
    };
    if (then == now) return;
    throw util::InputError("{} was measured on {}, and {} on {}: name files of one device",
                           util::printable(first), words(then), util::printable(file), words(now));
}

model::Run imported_run(model::Run run = {}) {
    run.tool_version = PERFGATE_VERSION;
    run.started_at = utc_now();
    run.backend = "imported";
    return run;
}

/// Adds what a file, which is a process, has of a case.
void join(const std::string& file, model::CaseResult added, model::CaseResult& result) {
    for (std::string& note : added.notes) {
        if (std::ranges::find(result.notes, note) == result.notes.end()) {
            result.notes.push_back(std::move(note));
        }
    }
    if (result.status == model::CaseStatus::error) return;
    if (added.status != model::CaseStatus::measured) {
        return model::set_error(result, fmt::format("{}: {}", util::printable(file), added.reason));
    }
    if (result.status != model::CaseStatus::measured) {
        result.kernels = std::move(added.kernels);
        result.not_collected = std::move(added.not_collected);
        result.not_applicable = std::move(added.not_applicable);
    }
    result.status = model::CaseStatus::measured;
    for (auto& [metric, series] : added.metrics) {
        const auto [known, fresh] = result.metrics.try_emplace(metric, series);
        if (fresh) continue;
        if (known->second.method != series.method) {
            return model::set_error(
                result, fmt::format("{}: {} was obtained by {} and in another file by {}",
                                    util::printable(file), metric, to_text(series.method),
                                    to_text(known->second.method)));
        }
        known->second.batches.push_back(std::move(series.batches.front()));
    }
}

/// Every file must have every metric of a case that was measured.
void conclude(std::size_t files, model::CaseResult& result) {
    if (result.status != model::CaseStatus::measured) return;
    std::string problem;
    for (auto& [metric, series] : result.metrics) {
        if (problem.empty() && series.batches.size() != files) {
            problem = fmt::format("only {} of {} files have its {}", series.batches.size(), files,
                                  metric);
        }
        series.value = stats::median(all_samples(series));
    }
    if (!problem.empty()) model::set_error(result, problem);
}

class Import {
  public:
    Import(std::size_t files, const ImportChoice& choice) : files_(files), choice_(choice) {}

    void add(const std::string& file) {
        refuse_run_document(file);
        const std::string text = util::read_file(file, benchmark::most_bytes, "results");
        distinct_.add(file, text);
        const benchmark::Format& format = format_of(text, file, choice_);
        benchmark::Layout reading;
        reading.format = format.name;
        const benchmark::Results read =
            benchmark::read_results(text, util::printable(file), reading, folder_of(file));
        const std::string board = board_of(read.machine);
        if (process_ == 0) {
            first_file_ = file;
            device_ = read.device;
            board_ = board;
        }
        require_one_device(first_file_, device_, file, read.device);
        first_of_host_.try_emplace(board, file);
        for (const benchmark::Result& result : read.results) {
            add(file, format, read.notes, board, result);
        }
        ++process_;
    }

    model::Run take(const std::string& first_file) {
        model::Run run = imported_run();
        run.environment.device.key = choice_.device_key;
        run.environment.device.name = device_.empty() ? choice_.device_key : device_;
        run.environment.device.board = board_;
        model::SuiteResult suite;
        suite.name = choice_.suite;
        suite.file = first_file;
        for (Imported& each : cases_) {
            conclude_case(each);
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
        std::string skipped;  ///< by the benchmark, and why
        std::size_t files_with_skip = 0;
    };

    void add(const std::string& file, const benchmark::Format& format,
             const std::vector<std::string>& notes, const std::string& board,
             const benchmark::Result& found) {
        const auto [place, added] = places_.try_emplace(benchmark::id_of(found), cases_.size());
        if (added) cases_.push_back({fresh(file, format, found), 0, {}, 0});
        Imported& imported = cases_[place->second];
        ++imported.files;
        model::CaseResult process;
        process.notes = found.notes;
        process.notes.insert(process.notes.end(), notes.begin(), notes.end());
        process.status = model::CaseStatus::measured;
        if (!found.problem.empty()) model::set_error(process, found.problem);
        if (!found.skipped.empty()) {
            ++imported.files_with_skip;
            imported.skipped = found.skipped;
        }
        for (const auto& [metric, samples] : found.metrics) {
            model::MetricSeries& series = process.metrics[metric];
            series.method = samples.method;
            series.unit = metrics::find_metric(metric)->definition.unit;
            series.batches.push_back({process_, board, 0, samples.values});
        }
        join(file, std::move(process), imported.result);
    }

    model::CaseResult fresh(const std::string& file, const benchmark::Format& format,
                            const benchmark::Result& found) const {
        model::CaseResult result;
        result.spec = {choice_.name, found.name, found.params, model::Cache::cold};
        result.place.file = file;
        // Like a program's: nothing verifies it, and there is no code to compare.
        result.command = {std::string(format.name)};
        result.instance = model::benchmark_instance;
        result.gates.push_back({std::string(format.metrics.front()),
                                model::Tolerance{choice_.tolerance, {}, 0},
                                suite::default_cross_board});
        return result;
    }

    /// Names the files; the hosts' names are not stored.
    std::string hosts_note() const {
        if (first_of_host_.size() < 2) return {};
        std::vector<std::string> files;
        for (const auto& [host, file] : first_of_host_) files.push_back(util::printable(file));
        std::ranges::sort(files);
        return fmt::format("the files were measured on {} hosts; the first file of each: {}",
                           first_of_host_.size(), fmt::join(files, ", "));
    }

    /// Every file must have the case, with every metric.
    void conclude_case(Imported& imported) const {
        model::CaseResult& result = imported.result;
        if (std::string note = hosts_note(); !note.empty()) {
            result.notes.push_back(std::move(note));
        }
        if (result.status == model::CaseStatus::error) return;
        if (imported.files != files_) {
            model::set_error(
                result, fmt::format("only {} of {} files have this case", imported.files, files_));
        } else if (imported.files_with_skip == files_) {
            result.status = model::CaseStatus::skipped;
            result.reason = imported.skipped;
        } else if (imported.files_with_skip > 0) {
            model::set_error(result,
                             fmt::format("skipped in {} of {} files: {}", imported.files_with_skip,
                                         files_, imported.skipped));
        } else {
            conclude(files_, result);
        }
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

/// Results as an entry of a suite reads and gates them.
class SuiteImport {
  public:
    SuiteImport(const std::vector<std::string>& files, const ImportChoice& choice)
        : files_(files.size()), choice_(choice), recordings_(traces::is_recording(files.front())) {
        std::vector<std::string> unread;
        const std::string& file = choice.suite_file;
        suite_ = suite::parse_known_part(util::read_file(file, suite::most_yaml_bytes, "suite"),
                                         file, {}, unread);
        for (const std::string& line : unread) {
            fmt::print(stderr, "perfgate: warning: {}\n", line);
        }
        suite::Problems problems(file);
        suite::check_tolerances(suite_, problems);
        problems.throw_if_any();
        for (const suite::SuiteCase& each : suite_.cases) {
            const bool named = choice.entry.empty() || choice.entry == each.spec.workload;
            if (!kinds::has_stored(*each.subject, recordings_)) continue;
            names_.push_back(each.spec.workload);
            if (!named || (entry_ != nullptr && entry_->group == each.group)) continue;
            if (entry_ != nullptr) {
                refuse(entry_->spec.workload == each.spec.workload
                           ? "has a matrix, so that a file of results may be of any of its "
                             "combinations: write an entry without one"
                           : fmt::format("is one of several {}s: name one, as --suite FILE/NAME",
                                         what()));
            }
            entry_ = &each;
        }
        if (entry_ == nullptr) refuse("");
    }

    model::Run take(const std::vector<std::string>& files, Constants* constants) {
        for (const std::string& file : files) {
            refuse_run_document(file);
            stored_.push_back(kinds::stored(*entry_->subject, file));
            distinct_.add(file, std::exchange(stored_.back().content, {}));
            require_one_device(files.front(), stored_.front().device, file, stored_.back().device);
        }
        for (const kinds::StoredResults& each : stored_) {
            if (constants == nullptr) break;
            for (const auto& [column, text] : each.constants) (*constants)[column].insert(text);
        }
        model::Run run = planned_run();
        for (std::size_t i = 0; i < files.size(); ++i) add(i, files[i], run);
        for (model::CaseResult& result : run.suites.front().cases) conclude(files_, result);
        return run;
    }

  private:
    [[nodiscard]] std::string_view what() const { return recordings_ ? "command" : "benchmark"; }

    [[noreturn]] void refuse(const std::string& why) const {
        const std::string which =
            entry_ == nullptr
                ? fmt::format("has no {} {}{}", what(), util::printable(choice_.entry),
                              !choice_.entry.empty() ? util::did_you_mean(choice_.entry, names_)
                              : recordings_          ? "whose recordings these could be"
                                                     : "whose results can be read")
                : util::printable(entry_->spec.workload) + ' ' + why;
        throw util::InputError("{}: {}", util::printable(choice_.suite_file), which);
    }

    /// The cases of all files. One is skipped that no file has values of.
    model::Discovered discovered() const {
        model::Discovered all;
        std::map<std::string, std::size_t> places;
        for (const kinds::StoredResults& each : stored_) {
            for (const model::DiscoveredCase& found : each.cases) {
                const std::string id =
                    model::case_id({"", found.name, found.params, model::Cache::cold});
                const auto [place, added] = places.try_emplace(id, all.cases.size());
                if (added) {
                    all.cases.push_back(found);
                } else if (found.skipped.empty()) {
                    all.cases[place->second].skipped.clear();
                }
            }
        }
        return all;
    }

    model::Run planned_run() {
        const std::size_t group = entry_->group.value();
        const std::string workload = entry_->spec.workload;
        if (model::stands_for_cases(entry_->spec)) {
            suite::set_discovered_cases({{group, discovered()}}, suite_);
        }
        suite::PlanOptions options;
        options.device_key = choice_.device_key;
        options.filters = {workload + "/*"};
        model::Plan plan;
        plan.suites.push_back(suite::plan_suite(suite_, options).suite);
        planned_ = std::move(plan.suites.front());
        // What `measure` records is in no file of results.
        std::erase_if(planned_.cases,
                      [&](const model::PlannedCase& each) { return each.group != group; });
        plan.suites.front() = planned_;
        measure::Capabilities capabilities;
        model::Device& device = capabilities.environment.device;
        device.key = choice_.device_key;
        device.name = stored_.front().device.empty() ? device.key : stored_.front().device;
        device.board = board_of(stored_.front().machine);
        model::Run run = imported_run(measure::empty_run(plan, capabilities, {}));
        if (planned_.partial) run.selections.push_back({options.filters, {}});
        return run;
    }

    void add(std::size_t process, const std::string& file, model::Run& run) const {
        measure::ProgramRequest request;
        std::vector<model::CaseResult>& cases = run.suites.front().cases;
        std::vector<std::size_t> taken;
        std::vector<model::CaseResult> results;
        for (std::size_t i = 0; i < cases.size(); ++i) {
            if (!planned_.cases[i].skip_reason.empty()) continue;
            taken.push_back(i);
            request.cases.push_back(&planned_.cases[i]);
            results.emplace_back().spec = cases[i].spec;
        }
        request.board = board_of(stored_[process].machine);
        request.process = static_cast<std::int64_t>(process);
        request.first = process == 0;
        stored_[process].take(request, results);
        for (std::size_t i = 0; i < taken.size(); ++i) {
            join(file, std::move(results[i]), cases[taken[i]]);
        }
    }

    std::size_t files_;
    const ImportChoice& choice_;
    bool recordings_;
    suite::Suite suite_;
    std::vector<std::string> names_;
    const suite::SuiteCase* entry_ = nullptr;
    DistinctFiles distinct_;
    std::vector<kinds::StoredResults> stored_;
    model::PlannedSuite planned_;
};

/// By suite and id.
using CasesById = std::map<std::string, const model::CaseResult*>;

CasesById cases_of(const model::Run& run) {
    CasesById cases;
    for (const model::SuiteResult& suite : run.suites) {
        for (const model::CaseResult& result : suite.cases) {
            cases.emplace(suite.name + ' ' + model::case_id(result.spec), &result);
        }
    }
    return cases;
}

}  // namespace

model::Run import_results(const std::vector<std::string>& files, const ImportChoice& choice,
                          Constants* constants) {
    if (!choice.suite_file.empty()) return SuiteImport(files, choice).take(files, constants);
    Import import(files.size(), choice);
    for (const std::string& file : files) import.add(file);
    return import.take(files.front());
}

std::string schema_of(const std::string& file) {
    return schema_of_text(util::read_file(file, run_limit_bytes, "run or results"), file);
}

std::string schema_of_text(const std::string& text, const std::string& file) {
    try {
        const document::JsonDocument document(text, util::printable(file));
        if (document.root().kind() != document::JsonKind::object) return {};
        const std::optional<document::JsonValue> schema = document.root().find("schema");
        return schema ? std::string(schema->text()) : std::string();
    } catch (const util::InputError&) {
        return {};  // what reads results says what is wrong
    }
}

model::Run read_run_or_results(const std::vector<std::string>& files, const ImportChoice& choice,
                               Constants* constants) {
    const bool stated = !choice.format.empty() || !choice.suite_file.empty();
    if (files.size() == 1 && !stated && !schema_of(files.front()).empty()) {
        return read_run(files.front());
    }
    return import_results(files, choice, constants);
}

std::vector<std::string> differences(const Constants& base, const Constants& head) {
    std::vector<std::string> notes;
    for (const auto& [column, texts] : base) {
        const auto now = head.find(column);
        if (now == head.end() || texts.size() != 1 || now->second.size() != 1) continue;
        const std::string& before = *texts.begin();
        const std::string& after = *now->second.begin();
        if (before == after) continue;
        notes.push_back(fmt::format(
            "column {} is '{}' in the base and '{}' in the head, and the suite does not name it",
            util::printable(column, 80), util::printable(before, 80), util::printable(after, 80)));
    }
    return notes;
}

namespace {

/// Refuses the comparison, and names the option that shows both.
[[noreturn]] void refuse_to_judge(std::string_view what, std::string_view of_base,
                                  std::string_view of_head) {
    throw util::InputError(
        "base and head cannot be compared: {} is {} in the base and {} in the head; measure both "
        "alike, or show them side by side with 'perfgate report --base … --head …'",
        what, of_base, of_head);
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

/// The case's name in the base, where cases_of() keeps it.
std::string former_name(const gate::BaselineSet& baselines, const std::string& id,
                        const model::CaseResult& result) {
    const std::string own = model::case_id(result.spec);
    const std::string suite = id.substr(0, id.size() - own.size() - 1);
    const auto stored = baselines.find(suite);
    if (stored == baselines.end()) return id;
    const auto renamed = stored->second.renamed.find(own);
    return renamed == stored->second.renamed.end() ? id : suite + ' ' + renamed->second;
}

}  // namespace

int judge_against(const model::Run& base, const std::string& base_name, const model::Run& head,
                  const model::Policy& policy, const OutputOptions& reports,
                  const std::vector<std::string>& notes) {
    const auto differs = gate::device_difference(head.environment.device, base.environment.device);
    if (differs) refuse_to_judge(differs->field, differs->then, differs->now);
    gate::BaselineSet baselines = gate::baselines_of(base, "base " + base_name);
    for (auto& [suite, stored] : baselines) {
        stored.notes.insert(stored.notes.end(), notes.begin(), notes.end());
    }
    gate::follow_renames(head, baselines);
    const CasesById of_base = cases_of(base);
    bool common = false;
    for (const auto& [id, result] : cases_of(head)) {
        const auto before = of_base.find(former_name(baselines, id, *result));
        if (before == of_base.end()) continue;
        common = true;
        require_one_build(*before->second, *result);
    }
    if (!common) {
        throw util::InputError("base and head have no case in common: nothing can be compared");
    }
    // Results say themselves whether they are (gate/invalid.hpp): simulators repeat theirs.
    const bool same = base.started_at == head.started_at && base.suites == head.suites;
    if (same && base.backend != "imported") {
        throw util::InputError(
            "base and head are one run, which began at {}: name the documents of two",
            util::printable(head.started_at, 40));
    }
    model::VerdictDocument document = gate::judge(head, baselines, policy, gate::BatchRule(policy));
    explain::explain(head, explain::Which::moved, document);
    return model::combine_exit_codes(document.exit_code, write_reports(document, head, reports));
}

}  // namespace perfgate::runner
