// SPDX-License-Identifier: Apache-2.0
#include "cli/workers.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>

#include "cli/clock.hpp"
#include "cli/fresh_seed.hpp"
#include "cli/git.hpp"
#include "cli/installation.hpp"
#include "cli/interruption.hpp"
#include "cli/terminal/progress.hpp"
#include "measure/journal.hpp"
#include "metrics/catalogue.hpp"
#include "model/error.hpp"
#include "model/sha256.hpp"
#include "model/text.hpp"
#include "suite/plan.hpp"
#include "suite/suite.hpp"

namespace perfgate::cli {
namespace {

/// A worker must say what it can do within this time; the first CUDA start on a cold machine takes
/// seconds.
constexpr double describe_limit_s = 60;

measure::Capabilities describe(measure::Workers& workers) {
    const measure::Reply reply = workers.must_ask(measure::DescribeRequest{}, describe_limit_s);
    const auto* described = std::get_if<measure::DescribeReply>(&reply);
    if (!described) throw model::Error("worker: it answered something else than what was asked");
    return described->capabilities;
}

/// A run stands without its yardstick: what went wrong is recorded in its place.
model::Ceilings ask_ceilings(measure::Workers& workers) {
    const auto answer = workers.ask(measure::CeilingsRequest{}, 30, nullptr);
    model::Ceilings none;
    none.problem = answer.why;
    if (!answer.reply) return none;
    if (const auto* told = std::get_if<measure::CeilingsReply>(&*answer.reply))
        return told->ceilings;
    if (const auto* failed = std::get_if<measure::FailedReply>(&*answer.reply))
        none.problem = failed->message;
    return none;
}

std::vector<std::string> plugins_of(const BackendChoice& choice) {
    std::vector<std::string> plugins;
    if (choice.bundled) plugins = bundled_plugins();
    plugins.insert(plugins.end(), choice.plugins.begin(), choice.plugins.end());
    return plugins;
}

/// The chosen devices, and the worker that knows of them.
struct Listed {
    std::vector<measure::ListedDevice> devices;
    std::unique_ptr<measure::Workers> by;
};

Listed list_devices(const BackendChoice& choice, const std::string& backend) {
    auto workers =
        std::make_unique<measure::Workers>(worker_command(choice, backend, ""), interrupted);
    const measure::Reply reply =
        workers->must_ask(measure::DevicesRequest{choice.devices}, describe_limit_s);
    const auto* listed = std::get_if<measure::DevicesReply>(&reply);
    if (!listed || listed->devices.empty())
        throw model::Error("worker: it answered something else than what was asked");
    return {listed->devices, std::move(workers)};
}

/// A run has one device key: its baselines are kept under it.
void require_one_key(const std::vector<measure::ListedDevice>& devices) {
    const measure::ListedDevice& first = devices.front();
    for (const measure::ListedDevice& other : devices)
        if (other.device.key != first.device.key)
            throw model::InputError(fmt::format(
                "--devices: {} is a {} and {} is a {}: one run measures boards of one kind; run "
                "once for each kind",
                first.id, first.device.name, other.id, other.device.name));
}

std::vector<measure::DeviceLock> lock_all(std::vector<measure::ListedDevice> devices,
                                          const measure::DeviceLock::Waiting& how) {
    // All runs take them in one order, so that no two wait for each other.
    std::sort(devices.begin(), devices.end(), [](const auto& left, const auto& right) {
        return left.device.board < right.device.board;
    });
    std::vector<measure::DeviceLock> locks;
    for (const measure::ListedDevice& listed : devices) {
        const std::string& name = listed.device.name;
        measure::DeviceLock::Waiting waiting = how;
        waiting.tell = [&](const std::string& holder) {
            fmt::print(stderr, "perfgate: {} is in use by {}: waiting up to {:g} s for it\n",
                       model::printable(name, 100), holder, how.limit_s);
        };
        locks.emplace_back(listed.device.board, model::printable(name, 100), waiting);
    }
    return locks;
}

OpenedBackend open_devices(const BackendChoice& choice, const std::string& name, Listed listed,
                           const measure::DeviceLock::Waiting* lock) {
    OpenedBackend opened;
    opened.name = name;
    require_one_key(listed.devices);
    if (lock) opened.locks = lock_all(listed.devices, *lock);
    for (const measure::ListedDevice& device : listed.devices)
        opened.devices.push_back(
            {device.device, std::make_unique<measure::Workers>(
                                worker_command(choice, name, device.id), interrupted)});
    if (name == "cuda") opened.keeper = std::move(listed.by);
    opened.capabilities = describe(*opened.devices.front().workers);
    return opened;
}

model::BoardState board_state(measure::Workers& workers) {
    const auto answer = workers.ask(measure::BoardStateRequest{}, 10, nullptr);
    const auto* state =
        answer.reply ? std::get_if<measure::BoardStateReply>(&*answer.reply) : nullptr;
    return state ? state->state : model::BoardState{};
}

/// The plugin's file and its second module, which stands beside it and begins with its name.
std::vector<std::filesystem::path> modules_of(const std::filesystem::path& plugin) {
    std::vector<std::filesystem::path> modules;
    std::error_code error;
    const std::filesystem::path folder = std::filesystem::absolute(plugin).parent_path();
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(plugin.stem().string()) && entry.path().extension() == ".so" &&
            entry.is_regular_file(error))
            modules.push_back(entry.path());
    }
    std::sort(modules.begin(), modules.end());
    return modules;
}

/// Results of an earlier execution must not pass for this one's, should it end early.
void remove_results(const std::filesystem::path& folder) {
    std::error_code ignored;
    for (const char* name : {"run.json", "verdict.json", "junit.xml"})
        std::filesystem::remove(folder / name, ignored);
}

measure::Identity identity(const model::Plan& plan, const OpenedBackend& backend,
                           const MeasuringChoice& choice, std::size_t processes) {
    measure::Identity identity{
        {"perfgate", PERFGATE_VERSION},
        {"backend", backend.name},
        {"--processes", std::to_string(processes)},
        {"--verify-only", choice.verify_only ? "yes" : "no"},
        {"--no-cupti", choice.backend.no_cupti ? "yes" : "no"},
        {"--changed-only", choice.unchanged ? "yes" : "no"},
    };
    std::string boards;
    for (const OpenedBackend::Device& device : backend.devices)
        boards += (boards.empty() ? "" : " ") + device.device.board;
    identity.emplace_back("--devices", boards);
    for (const std::string& plugin : plugins_of(choice.backend))
        for (const std::filesystem::path& module : modules_of(plugin))
            identity.emplace_back("plugin " + module.filename().string(),
                                  model::fingerprint_of_file(module));
    for (const auto& [name, code] : backend.capabilities.libraries)
        identity.emplace_back("library " + name, code);
    for (auto& field : measure::identity_of(plan, backend.capabilities.environment))
        identity.push_back(std::move(field));
    return identity;
}

/// What --resume goes on with. Throws model::InputError where that was another run.
std::optional<measure::JournalContent> read_resumed(const MeasuringChoice& choice,
                                                    const measure::Identity& now) {
    if (choice.resume.empty()) return std::nullopt;
    measure::JournalContent content = measure::read_journal(choice.resume);
    const std::string differs = measure::difference(content.header.identity, now);
    if (!differs.empty())
        throw model::InputError(
            fmt::format("--resume {}: {}: what was measured there does not "
                        "belong to this run; measure anew",
                        choice.resume, differs));
    return content;
}

model::Target target_of(const std::string& backend) {
    return backend == "cuda" ? model::Target::cuda : model::Target::host;
}

model::Plan plan_for(const std::vector<std::string>& files, const MeasuringChoice& choice,
                     const OpenedBackend& backend) {
    const model::Device& device = backend.capabilities.environment.device;
    suite::PlanOptions options;
    options.target = target_of(backend.name);
    options.device_key = device.key;
    options.compute_capability = device.compute_capability;
    options.filters = choice.filters;
    options.tags = choice.tags;
    model::Plan plan = suite::plan_suites(
        suite::load_suites({files.begin(), files.end()}, backend.capabilities.workloads), options);
    if (choice.change_plan) choice.change_plan(plan);
    return plan;
}

measure::MeasureOptions options_of(const MeasuringChoice& choice, ProgressLine& progress) {
    measure::MeasureOptions options;
    options.verify_only = choice.verify_only;
    options.case_limit_s = choice.case_limit_s;
    options.processes = choice.processes.value_or(usual_processes);
    options.again = choice.again;
    options.round_size = choice.round_size;
    options.noisy = choice.noisy;
    options.unchanged = choice.unchanged;
    options.progress = [&progress](const measure::Progress& step) { progress.show(step); };
    return options;
}

void tell_problem(const measure::Journal& journal) {
    const std::string problem = journal.problem();
    if (!problem.empty()) fmt::print(stderr, "perfgate: {}\n", model::printable(problem, 1000));
}

/// What a Run says of its execution, and the device's state and yardstick after it.
void complete(model::Run& run, OpenedBackend& backend, const MeasuringChoice& choice,
              const std::string& started_at, const std::string& suite_file,
              std::chrono::steady_clock::time_point start) {
    measure::Workers& workers = *backend.devices.front().workers;
    if (!run.interrupted) {
        // After the cases: what the yardstick does to the board's temperature is not theirs to
        // bear.
        if (!choice.verify_only && choice.ceilings)
            run.environment.ceilings = ask_ceilings(workers);
        run.environment.after = board_state(workers);
    }
    run.tool_version = PERFGATE_VERSION;
    run.git_revision = git_revision(std::filesystem::absolute(suite_file).parent_path());
    run.started_at = started_at;
    run.backend = backend.name;
    if (!choice.filters.empty() || !choice.tags.empty()) {
        run.selections.push_back({choice.filters, choice.tags});
    }
    run.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Why a build does not offer the case; empty: it does.
std::string lacks(const model::WorkloadCatalogue& catalogue, const model::CaseSpec& spec) {
    const model::WorkloadInfo* workload = model::find_workload(catalogue, spec.workload);
    if (!workload) return fmt::format("it has no workload '{}'", spec.workload);
    const model::VariantInfo* variant = model::find_variant(*workload, spec.variant);
    if (!variant) return fmt::format("its '{}' has no variant '{}'", spec.workload, spec.variant);
    if (!variant->built) return fmt::format("its variant '{}' was not built", spec.variant);
    for (const auto& [name, value] : spec.params)
        if (std::none_of(workload->params.begin(), workload->params.end(),
                         [&name = name](const auto& param) { return param.name == name; }))
            return fmt::format("its '{}' has no parameter '{}'", spec.workload, name);
    return {};
}

/// The same cases, those skipped that this build does not offer.
model::Plan offered(model::Plan plan, const model::WorkloadCatalogue& catalogue) {
    for (model::PlannedSuite& suite : plan.suites)
        for (model::PlannedCase& planned : suite.cases)
            if (planned.skip_reason.empty()) planned.skip_reason = lacks(catalogue, planned.spec);
    return plan;
}

/// The choice for one build: its plugins and those that both have, without the bundled ones, which
/// offer the same workloads where a build of perfgate's own is compared.
MeasuringChoice side_of(const MeasuringChoice& choice, const std::vector<std::string>& plugins) {
    MeasuringChoice side = choice;
    side.backend.bundled = false;
    side.backend.plugins.insert(side.backend.plugins.begin(), plugins.begin(), plugins.end());
    return side;
}

}  // namespace

void add_backend_options(CLI::App& app, BackendChoice& choice) {
    app.add_option("--backend", choice.backend,
                   "What measures: cuda, host (CPU, host variants only), or auto: cuda where there "
                   "is a device, else host")
        ->check(CLI::IsMember({"auto", "cuda", "host"}))
        ->capture_default_str();
    app.add_option("--devices", choice.devices,
                   "GPUs of one kind: all, or a list such as 0,1 of index, UUID or PCI bus id "
                   "(default: the first)")
        ->type_name("LIST");
    // The README's name for it, once.
    app.add_option("--device", choice.devices)->group("");
    app.add_option("--plugin", choice.plugins,
                   "A plugin with workloads, besides the bundled ones (repeatable)")
        ->type_name("FILE");
    app.add_flag(
        "--no-cupti", choice.no_cupti,
        "Events only: no kernel records, no counters; lets nsys, ncu and compute-sanitizer "
        "attach");
}

void add_measuring_options(CLI::App& app, MeasuringChoice& choice) {
    add_backend_options(app, choice.backend);
    app.add_flag("--verify-only", choice.verify_only,
                 "Check the results of every case and measure nothing (for compute-sanitizer)");
    app.add_option("--verify-seed", choice.verify_seed,
                   "Seed of the inputs that verification uses (default: a fresh one; a failure "
                   "names it)")
        ->type_name("N");
    app.add_option("--case-limit", choice.case_limit_s,
                   "Seconds after which a case is given up and its worker ended")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--processes", choice.processes,
                   "Fresh processes that each take a batch of every time (default: 5, for a "
                   "baseline 20; there as many again for cases that are noisy for their "
                   "tolerance)")
        ->check(CLI::Range(1, 1000))
        ->type_name("N");
    app.add_option("--lock-wait", choice.lock_wait_s,
                   "Seconds to wait for a device that another run uses; 0: not at all")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_flag("--quiet", choice.quiet, "No progress on standard error");
}

void apply_measuring_profile(const CLI::App& verb, const suite::Profile& profile,
                             MeasuringChoice& choice) {
    if (profile.backend && verb.count("--backend") == 0) choice.backend.backend = *profile.backend;
    if (profile.processes && !choice.processes)
        choice.processes = static_cast<std::size_t>(*profile.processes);
}

std::vector<std::string> worker_command(const BackendChoice& choice, const std::string& backend,
                                        const std::string& device) {
    std::vector<std::string> command = {own_binary().string(), "worker", "--backend", backend};
    const auto add = [&](const std::string& option, const std::string& value) {
        command.push_back(option);
        command.push_back(value);
    };
    if (!device.empty()) add("--device", device);
    for (const std::string& plugin : plugins_of(choice))
        add("--plugin", std::filesystem::absolute(plugin).string());
    if (choice.no_cupti) command.push_back("--no-cupti");
    return command;
}

OpenedBackend open_backend(const BackendChoice& choice, const measure::DeviceLock::Waiting* lock) {
    if (choice.backend != "auto") {
        OpenedBackend opened =
            open_devices(choice, choice.backend, list_devices(choice, choice.backend), lock);
        if (!opened.capabilities.timing)
            throw model::Error(fmt::format("backend '{}' cannot measure here: {}", choice.backend,
                                           opened.capabilities.kernel_records_problem));
        return opened;
    }
    std::string why;
    Listed listed;
    try {
        listed = list_devices(choice, "cuda");
    } catch (const model::InputError&) {
        throw;
    } catch (const measure::Interrupted&) {
        throw;
    } catch (const model::Error& error) {
        why = error.what();
    }
    // From here on a GPU that fails is an error: it is there.
    if (why.empty()) return open_devices(choice, "cuda", std::move(listed), lock);
    fmt::print(stderr, "perfgate: no GPU here ({}): the host backend measures host variants\n",
               why);
    return open_devices(choice, "host", list_devices(choice, "host"), lock);
}

model::Run measure_suites(const std::vector<std::string>& files, const MeasuringChoice& choice) {
    const auto start = std::chrono::steady_clock::now();
    catch_interruptions();

    const measure::DeviceLock::Waiting waiting{choice.lock_wait_s, interrupted, {}};
    OpenedBackend backend = open_backend(choice.backend, &waiting);
    model::Plan plan = plan_for(files, choice, backend);
    std::optional<model::Shard> shard;
    if (choice.divide) {
        shard = choice.divide(plan, backend.capabilities.environment.device.key);
    }
    ProgressLine progress(choice.quiet);
    measure::MeasureOptions options = options_of(choice, progress);

    measure::JournalHeader header{utc_now(), choice.verify_seed.value_or(fresh_seed()),
                                  identity(plan, backend, choice, options.processes)};
    const std::optional<measure::JournalContent> resumed = read_resumed(choice, header.identity);
    if (resumed) {
        header = resumed->header;
        options.resumed = &*resumed;
    }
    options.verify_seed = header.verify_seed;
    remove_results(choice.out);
    const std::unique_ptr<measure::Journal> journal =
        resumed ? std::make_unique<measure::Journal>(choice.out, *resumed)
                : std::make_unique<measure::Journal>(choice.out, header);

    std::vector<measure::MeasuredDevice> devices;
    for (const OpenedBackend::Device& device : backend.devices)
        devices.push_back({device.device.board, device.workers.get()});
    const model::BoardState before = board_state(*backend.devices.front().workers);
    model::Run run = measure::measure(plan, backend.capabilities, devices, options, *journal);
    run.environment.before = before;
    tell_problem(*journal);
    complete(run, backend, choice, header.started_at, files.front(), start);
    run.shard = std::move(shard);
    return run;
}

measure::BothRuns measure_both(const std::vector<std::string>& files, const MeasuringChoice& choice,
                               const SidePlugins& plugins, const measure::AgainOfBoth& again) {
    const auto start = std::chrono::steady_clock::now();
    catch_interruptions();

    const measure::DeviceLock::Waiting waiting{choice.lock_wait_s, interrupted, {}};
    MeasuringChoice of_head = side_of(choice, plugins.head);
    OpenedBackend head = open_backend(of_head.backend, &waiting);
    if (head.devices.size() > 1)
        throw model::InputError(
            "--devices: builds are compared back to back on one device; name one");
    MeasuringChoice of_base = side_of(choice, plugins.base);
    of_base.backend.backend = head.name;
    // The head's lock holds for both.
    OpenedBackend base = open_backend(of_base.backend);

    const model::Plan head_plan = plan_for(files, of_head, head);
    const model::Plan base_plan = offered(head_plan, base.capabilities.workloads);
    ProgressLine progress(choice.quiet);
    measure::MeasureOptions options = options_of(choice, progress);
    options.verify_seed = choice.verify_seed.value_or(fresh_seed());

    const std::string started_at = utc_now();
    const std::filesystem::path base_folder = base_results(choice.out);
    remove_results(choice.out);
    remove_results(base_folder);
    measure::Journal head_journal(
        choice.out, measure::JournalHeader{started_at, options.verify_seed,
                                           identity(head_plan, head, of_head, options.processes)});
    measure::Journal base_journal(
        base_folder, measure::JournalHeader{started_at, options.verify_seed,
                                            identity(base_plan, base, of_base, options.processes)});

    measure::Workers& head_workers = *head.devices.front().workers;
    const model::BoardState before = board_state(head_workers);
    measure::BothRuns runs = measure::measure_back_to_back(
        {&base_plan, &base.capabilities, base.devices.front().workers.get(), &base_journal},
        {&head_plan, &head.capabilities, &head_workers, &head_journal}, options, again);
    tell_problem(base_journal);
    tell_problem(head_journal);
    runs.base.environment.before = runs.head.environment.before = before;
    complete(runs.head, head, of_head, started_at, files.front(), start);
    // One device, one time: what was seen of it holds for both.
    const model::Environment& seen = runs.head.environment;
    runs.base.environment.after = seen.after;
    runs.base.environment.ceilings = seen.ceilings;
    runs.base.tool_version = runs.head.tool_version;
    runs.base.started_at = runs.head.started_at;
    runs.base.backend = runs.head.backend;
    runs.base.selections = runs.head.selections;
    runs.base.wall_s = runs.head.wall_s;
    return runs;
}

std::filesystem::path base_results(const std::filesystem::path& out) {
    return out / "base";
}

}  // namespace perfgate::cli
