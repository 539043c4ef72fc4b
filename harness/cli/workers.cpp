// SPDX-License-Identifier: Apache-2.0
#include "cli/workers.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <random>

#include "cli/installation.hpp"
#include "cli/interruption.hpp"
#include "cli/progress.hpp"
#include "measure/journal.hpp"
#include "metrics/catalogue.hpp"
#include "model/error.hpp"
#include "suite/plan.hpp"
#include "suite/suite.hpp"

namespace perfgate::cli {
namespace {

/// A worker must say what it can do within this time; the first CUDA start on a cold machine takes
/// seconds.
constexpr double describe_limit_s = 60;

/// HEAD of the repository that `folder` is in, "-dirty" appended where files changed; empty where
/// there is no repository or no git.
std::string git_revision(const std::filesystem::path& folder) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return "";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<std::string> words = {"git",      "-C",      folder.string(), "describe",
                                      "--always", "--dirty", "--abbrev=40",   "--exclude=*"};
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t pid = 0;
    const int failed = posix_spawnp(&pid, "git", &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::string text;
    std::array<char, 256> buffer;
    for (ssize_t count = 0; !failed && (count = read(ends[0], buffer.data(), buffer.size())) > 0;)
        text.append(buffer.data(), static_cast<std::size_t>(count));
    close(ends[0]);
    if (failed) return "";
    int status = 0;
    waitpid(pid, &status, 0);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

std::string utc_now() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

std::uint64_t fresh_seed() {
    std::random_device random;
    return (std::uint64_t{random()} << 32 | random()) >> 1;
}

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

std::unique_ptr<OpenedBackend> try_backend(const BackendChoice& choice, const std::string& name) {
    auto opened = std::make_unique<OpenedBackend>();
    opened->name = name;
    opened->options.worker_command = worker_command(choice, name);
    opened->workers = std::make_unique<measure::Workers>(opened->options);
    opened->capabilities = describe(*opened->workers);
    return opened;
}

model::Target target_of(const std::string& backend) {
    return backend == "cuda" ? model::Target::cuda : model::Target::host;
}

}  // namespace

void add_backend_options(CLI::App& app, BackendChoice& choice) {
    app.add_option("--backend", choice.backend,
                   "What measures: cuda, host (CPU, host variants only), or auto: cuda where there "
                   "is a device, else host")
        ->check(CLI::IsMember({"auto", "cuda", "host"}))
        ->capture_default_str();
    app.add_option("--device", choice.device,
                   "The GPU: its index, UUID or PCI bus id (default: the first)")
        ->type_name("ID");
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
    app.add_flag("--quiet", choice.quiet, "No progress line");
}

std::vector<std::string> worker_command(const BackendChoice& choice, const std::string& backend) {
    std::vector<std::string> command = {own_binary().string(), "worker", "--backend", backend};
    const auto add = [&](const std::string& option, const std::string& value) {
        command.push_back(option);
        command.push_back(value);
    };
    if (!choice.device.empty() && backend == "cuda") add("--device", choice.device);
    for (const std::string& plugin : bundled_plugins()) add("--plugin", plugin);
    for (const std::string& plugin : choice.plugins)
        add("--plugin", std::filesystem::absolute(plugin).string());
    if (choice.no_cupti) command.push_back("--no-cupti");
    return command;
}

std::unique_ptr<OpenedBackend> open_backend(const BackendChoice& choice) {
    if (choice.backend != "auto") {
        auto opened = try_backend(choice, choice.backend);
        if (!opened->capabilities.timing)
            throw model::Error(fmt::format("backend '{}' cannot measure here: {}", choice.backend,
                                           opened->capabilities.kernel_records_problem));
        return opened;
    }
    std::string why;
    try {
        auto opened = try_backend(choice, "cuda");
        if (opened->capabilities.timing) return opened;
        why = opened->capabilities.kernel_records_problem;
    } catch (const model::InputError&) {
        throw;
    } catch (const model::Error& error) {
        why = error.what();
    }
    fmt::print(stderr, "perfgate: no GPU here ({}): the host backend measures host variants\n",
               why);
    return try_backend(choice, "host");
}

model::Run measure_suites(const std::vector<std::string>& files, const MeasuringChoice& choice) {
    const auto start = std::chrono::steady_clock::now();
    const std::string started_at = utc_now();
    catch_interruptions();

    const std::unique_ptr<OpenedBackend> backend = open_backend(choice.backend);
    const measure::Capabilities& capabilities = backend->capabilities;

    suite::PlanOptions plan_options;
    plan_options.target = target_of(backend->name);
    plan_options.device_key = capabilities.environment.device.key;
    plan_options.compute_capability = capabilities.environment.device.compute_capability;
    plan_options.filters = choice.filters;
    plan_options.tags = choice.tags;
    const model::Plan plan = suite::plan_suites(
        suite::load_suites({files.begin(), files.end()}, capabilities.workloads), plan_options);

    measure::MeasureOptions& options = backend->options;
    options.verify_only = choice.verify_only;
    options.case_limit_s = choice.case_limit_s;
    options.verify_seed = choice.verify_seed.value_or(fresh_seed());
    options.stop = interrupted;
    ProgressLine progress(choice.quiet);
    options.progress = [&](const measure::Progress& step) { progress.show(step); };

    const auto board_state = [&]() -> model::BoardState {
        const auto answer = backend->workers->ask(measure::BoardStateRequest{}, 10, nullptr);
        const auto* state =
            answer.reply ? std::get_if<measure::BoardStateReply>(&*answer.reply) : nullptr;
        return state ? state->state : model::BoardState{};
    };

    measure::Journal journal(choice.out);
    const model::BoardState before = board_state();
    model::Run run = measure::measure(plan, capabilities, *backend->workers, options, journal);
    run.environment.before = before;
    if (!run.interrupted) {
        // After the cases: what the yardstick does to the board's temperature is not theirs to bear.
        if (!choice.verify_only) run.environment.ceilings = ask_ceilings(*backend->workers);
        run.environment.after = board_state();
    }
    run.tool_version = PERFGATE_VERSION;
    run.git_revision = git_revision(std::filesystem::absolute(files.front()).parent_path());
    run.started_at = started_at;
    run.backend = backend->name;
    run.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return run;
}

}  // namespace perfgate::cli
