// SPDX-License-Identifier: Apache-2.0
#include "cli/options/measuring.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <system_error>

#include "cli/terminal/progress.hpp"
#include "runner/installation.hpp"
#include "util/text.hpp"

namespace perfgate::cli {

void add_backend_options(CLI::App& app, runner::BackendChoice& choice) {
    app.add_option("--backend", choice.backend,
                   "What measures: cuda, host (CPU, host variants only), or auto: cuda, or host if "
                   "there is no NVIDIA GPU")
        ->check(CLI::IsMember({"auto", "cuda", "host"}))
        ->capture_default_str();
    app.add_option("--devices", choice.devices,
                   "GPUs of one kind: all, or a list such as 0,1 of index, UUID or PCI bus id "
                   "(default: the first)")
        ->type_name("LIST");
    // Its former name.
    app.add_option("--device", choice.devices)->group("");
    app.add_option("--plugin", choice.plugins,
                   "A plugin with workloads, in addition to the bundled ones (repeatable)")
        ->type_name("FILE")
        ->check([](const std::string& named) {
            std::error_code ignored;
            if (named.empty() || std::filesystem::exists(runner::plugin_file(named), ignored)) {
                return std::string();
            }
            return fmt::format("{}: No such file or directory", util::printable(named));
        });
    app.add_flag(
        "--no-cupti", choice.no_cupti,
        "Events only: no kernel records, no counters; lets nsys, ncu and compute-sanitizer "
        "attach");
}

void add_measuring_options(CLI::App& app, runner::MeasuringChoice& choice) {
    add_backend_options(app, choice.backend);
    app.add_flag("--verify-only", choice.verify_only,
                 "Check the results of every case and measure nothing (for compute-sanitizer)");
    app.add_option("--verify-seed", choice.verify_seed,
                   "Seed of the inputs that verification uses (default: a fresh one; a failure "
                   "names it)")
        ->type_name("N");
    app.add_option("--case-limit", choice.case_limit_s,
                   "Seconds after which a case is an error and its worker is ended")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--processes", choice.processes,
                   "Fresh processes that measure each case (default: 5, and for `run` 3 if it "
                   "passes with them; for a baseline 20, and as many again for a case that is too "
                   "noisy for its tolerance)")
        ->check(CLI::Range(1, 1000))
        ->type_name("N");
    app.add_option("--lock-wait", choice.lock_wait_s,
                   "Seconds to wait for a device that another run uses; 0: not at all")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    choice.progress = std::make_shared<ProgressLine>();
    app.add_flag_callback(
        "--quiet", [&choice] { choice.progress = nullptr; }, "No progress on standard error");
}

void apply_measuring_profile(const CLI::App& verb, const suite::Profile& profile,
                             runner::MeasuringChoice& choice) {
    if (profile.backend && verb.count("--backend") == 0) choice.backend.backend = *profile.backend;
    if (profile.processes && !choice.processes) {
        choice.processes = static_cast<std::size_t>(*profile.processes);
    }
}

}  // namespace perfgate::cli
