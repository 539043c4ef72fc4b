// SPDX-License-Identifier: Apache-2.0
#include "runner/execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <utility>
#include <vector>

#include "kinds/kinds.hpp"
#include "measure/ceiling_shares.hpp"
#include "measure/identity.hpp"
#include "runner/code_file.hpp"
#include "runner/git.hpp"
#include "runner/interruption.hpp"
#include "runner/plan.hpp"
#include "runner/run_file.hpp"
#include "util/error.hpp"
#include "util/folder.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

/// The plugin's file and its second module, which is beside it and begins with its name; either may
/// have the prefix "lib".
std::vector<std::filesystem::path> modules_of(const std::filesystem::path& plugin) {
    std::vector<std::filesystem::path> modules;
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::absolute(plugin).parent_path();
    const auto without_prefix = [](const std::string& name) {
        return name.starts_with("lib") ? name.substr(3) : name;
    };
    const std::string stem = without_prefix(plugin.stem().string());
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        if (without_prefix(name).starts_with(stem) && entry.path().extension() == ".so" &&
            entry.is_regular_file(error)) {
            modules.push_back(entry.path());
        }
    }
    std::ranges::sort(modules);
    return modules;
}

/// Results of an earlier execution must not be mistaken for this one's if it ends early.
void remove_results(const std::filesystem::path& folder) {
    for (const char* name : {"run.json", "verdict.json", "junit.xml", code_file}) {
        util::remove_below(folder, name);
    }
}

std::size_t processes_of(const MeasuringChoice& choice) {
    return choice.processes.value_or(usual_processes);
}

std::string revision_of(const std::string& suite_file) {
    return git_revision(std::filesystem::absolute(suite_file).parent_path());
}

/// What must be equal for two executions to form one run.
measure::Identity identity_of(const MeasuringChoice& choice, const OpenedBackend& backend,
                              const model::Plan& plan) {
    measure::Identity identity{
        {"command", choice.verb},
        {"perfgate", PERFGATE_VERSION},
        {"backend", backend.name},
        {"--processes", std::to_string(processes_of(choice))},
        {"--verify-only", choice.verify_only ? "yes" : "no"},
        {"--no-cupti", choice.backend.no_cupti ? "yes" : "no"},
        {"--changed-only", choice.changed_only ? "yes" : "no"},
        {"git revision", revision_of(plan.suites.front().file)},
    };
    std::string boards;
    for (const OpenedBackend::Device& device : backend.devices) {
        boards += (boards.empty() ? "" : " ") + device.device.board;
    }
    identity.emplace_back("--devices", boards);
    for (const std::string& plugin : plugins_of(backend, plan)) {
        for (const std::filesystem::path& module : modules_of(plugin)) {
            identity.emplace_back("plugin " + module.filename().string(),
                                  util::fingerprint_of_file(module));
        }
    }
    for (const auto& [interpreter, scripts] : backend.chosen.interpreters) {
        for (const std::string& script : scripts) {
            identity.emplace_back("Python " + script,
                                  interpreter + ' ' + util::fingerprint_of_file(script));
        }
    }
    for (const auto& [name, code] : backend.capabilities.libraries) {
        identity.emplace_back("library " + name, code);
    }
    for (auto& field : measure::identity_of(plan, backend.capabilities.environment)) {
        identity.push_back(std::move(field));
    }
    return identity;
}

/// What --resume continues. Throws util::InputError if that was another run.
std::optional<measure::JournalContent> read_resumed(const MeasuringChoice& choice,
                                                    const measure::Identity& now) {
    if (choice.resume.empty()) return std::nullopt;
    measure::JournalContent content = measure::read_journal(choice.resume);
    const std::string differs = measure::difference(content.header.identity, now);
    if (!differs.empty()) {
        throw util::InputError(
            "--resume {}: {}: its measurements do not belong to this run; measure again",
            choice.resume, differs);
    }
    if (content.finished) {
        throw util::InputError(
            "--resume {}: the run in it was not interrupted; measure again without --resume",
            choice.resume);
    }
    return content;
}

std::vector<measure::MeasuredDevice> measured_devices(const OpenedBackend& backend) {
    std::vector<measure::MeasuredDevice> devices;
    for (const OpenedBackend::Device& device : backend.devices) {
        devices.push_back({device.device.board, device.workers.get()});
    }
    return devices;
}

}  // namespace

Execution::Execution(const MeasuringChoice& choice, OpenedBackend& backend, const model::Plan& plan,
                     Unsupported unsupported)
    : choice_(choice), backend_(backend) {
    header_ = {utc_now(), choice.verify_seed.value_or(fresh_seed()),
               identity_of(choice, backend, plan)};
    programs_ = kinds::programs_of(machine_of(choice, backend), plan);
    resumed_ = read_resumed(choice, header_.identity);
    if (resumed_) header_ = resumed_->header;
    remove_results(choice.out);
    journal_ = resumed_ ? std::make_unique<measure::Journal>(choice.out, *resumed_)
                        : std::make_unique<measure::Journal>(choice.out, header_);

    measure::MeasureOptions options;
    options.verify_only = choice.verify_only;
    options.case_limit_s = choice.case_limit_s;
    options.verify_seed = header_.verify_seed;
    options.processes = processes_of(choice);
    options.resumed = resumed_ ? &*resumed_ : nullptr;
    options.programs = programs_.get();
    options.known_overheads = choice.known_overheads;
    if (choice.progress) {
        choice.progress->begin();
        options.progress = [observer = choice.progress](const measure::Progress& step) {
            observer->show(step);
        };
    }
    before_ = board_state(first_workers(backend));
    session_ = std::make_unique<measure::Session>(plan, backend.capabilities,
                                                  measured_devices(backend), options, *journal_);
    session_->prepare(unsupported);
}

Execution::~Execution() {
    end_progress();
}

void Execution::end_progress() {
    if (choice_.progress) choice_.progress->end();
}

model::Run Execution::conclude() {
    model::Run run = session_->finish();
    if (!run.interrupted) journal_->finish();
    run.pull_request = pull_request_of_ci();
    end_progress();
    const std::string problem = journal_->problem();
    if (!problem.empty()) fmt::print(stderr, "perfgate: {}\n", util::printable(problem, 1000));
    return run;
}

measure::Workers& Execution::plain() {
    first_workers(backend_).end();
    if (!plain_) plain_ = plain_workers(backend_);
    return *plain_;
}

const model::Ceilings& Execution::ceilings() {
    if (!ceilings_) {
        const bool wanted = !choice_.verify_only && choice_.ceilings;
        ceilings_ = wanted ? measure_ceilings(plain()) : model::Ceilings{};
    }
    return *ceilings_;
}

model::Run Execution::rated(const model::Run& run) {
    model::Run result = run;
    result.started_at = header_.started_at;
    if (!measure::asks_for_ceilings(result)) return result;
    result.environment.ceilings = ceilings();
    if (plain_) plain_->end();
    measure::add_ceiling_shares(result);
    return result;
}

model::Run Execution::finish(const std::string& suite_file) {
    model::Run run = conclude();
    run.environment.before = before_;
    if (!run.interrupted) {
        // After the cases, so that the ceilings do not heat up the board for them.
        if (measure::ceilings_bound_any(run)) run.environment.ceilings = ceilings();
        measure::add_ceiling_shares(run);
        run.environment.after = board_state(plain());
    }
    run.tool_version = PERFGATE_VERSION;
    run.git_revision = revision_of(suite_file);
    run.started_at = header_.started_at;
    run.backend = backend_.name;
    if (!choice_.filters.empty() || !choice_.tags.empty()) {
        run.selections.push_back({choice_.filters, choice_.tags});
    }
    run.wall_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - backend_.since).count();
    return run;
}

model::Run Execution::finish_beside(const model::Run& other) {
    model::Run run = conclude();
    run.environment.before = other.environment.before;
    run.environment.after = other.environment.after;
    run.environment.ceilings = other.environment.ceilings;
    if (!run.interrupted) measure::add_ceiling_shares(run);
    run.tool_version = other.tool_version;
    run.started_at = other.started_at;
    run.backend = other.backend;
    run.selections = other.selections;
    run.wall_s = other.wall_s;
    return run;
}

}  // namespace perfgate::runner
