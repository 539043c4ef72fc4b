// SPDX-License-Identifier: Apache-2.0
// Choosing a backend, starting its worker, and measuring suites with it: what `run` and
// `baseline refresh` share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/back_to_back.hpp"
#include "measure/coordinator.hpp"
#include "measure/device_lock.hpp"
#include "model/plan.hpp"
#include "model/run.hpp"
#include "suite/profile.hpp"

namespace CLI {
class App;
}

namespace perfgate::cli {

struct BackendChoice {
    std::string backend = "auto";      ///< "auto", "cuda" or "host"
    std::string devices;               ///< empty: the first one; "all", or a list with commas
    std::vector<std::string> plugins;  ///< besides the bundled ones
    bool bundled = true;               ///< the plugins that come with perfgate
    bool no_cupti = false;
};

struct MeasuringChoice {
    BackendChoice backend;
    std::vector<std::string> filters, tags;
    std::string out = "perfgate-out";
    bool verify_only = false;
    double case_limit_s = 120;
    std::optional<std::uint64_t> verify_seed;  ///< absent: a fresh one
    bool quiet = false;
    std::optional<std::size_t> processes;  ///< absent: usual_processes, or as the profile says
    double lock_wait_s = 600;
    /// Leaves a shard of the plan, for a device key; none: all of it is measured.
    std::function<model::Shard(model::Plan&, const std::string&)> divide;
    std::string resume;  ///< the output folder of an earlier execution; empty: none
    /// As measure::MeasureOptions has it.
    std::function<std::vector<measure::Suspicion>(const model::Run&)> again;
    std::function<std::size_t(std::int64_t)> round_size;
    /// As measure::MeasureOptions has it.
    std::function<bool(const model::CaseResult&)> noisy;
    bool ceilings = true;  ///< measured after the cases
    /// Has the last word on what the suites say.
    std::function<void(model::Plan&)> change_plan;
    /// As measure::MeasureOptions has it; none: every case is measured.
    std::function<bool(const model::Run&, const std::string& suite, const model::CaseResult&,
                       std::uint64_t seed)>
        unchanged;
};

/// Batches that a case of a usual run has, and one of a baseline.
inline constexpr std::size_t usual_processes = 5;
inline constexpr std::size_t baseline_processes = 20;

void add_backend_options(CLI::App& app, BackendChoice& choice);
/// All that says how suites are measured, but for filters, tags and the output folder, which other
/// verbs have too.
void add_measuring_options(CLI::App& app, MeasuringChoice& choice);

/// Takes from the profile what the command line does not say of it.
void apply_measuring_profile(const CLI::App& verb, const suite::Profile& profile,
                             MeasuringChoice& choice);

/// The command line of a worker for this backend ("cuda" or "host") and one device; empty: the
/// first.
std::vector<std::string> worker_command(const BackendChoice& choice, const std::string& backend,
                                        const std::string& device);

/// A backend whose worker has answered. The devices have one key.
struct OpenedBackend {
    std::string name;                        ///< "cuda" or "host"
    std::vector<measure::DeviceLock> locks;  ///< where they were asked for; the last to go
    struct Device {
        model::Device device;
        std::unique_ptr<measure::Workers> workers;
    };
    std::vector<Device> devices;         ///< one at least
    measure::Capabilities capabilities;  ///< of the first
    /// Has the devices open, without a context, for as long as this lives: the driver sets up and
    /// tears down a device that nobody has open, and each worker would wait for that. None on the
    /// host.
    std::unique_ptr<measure::Workers> keeper;
};

/// `auto` takes the GPU where there is one and says in one line on stderr when there is none. With
/// `lock`, the devices are locked before they are opened. Throws model::Error where the chosen
/// backend cannot measure, with the remedy.
OpenedBackend open_backend(const BackendChoice& choice,
                           const measure::DeviceLock::Waiting* lock = nullptr);

/// Loads, plans and measures the suites. Throws model::InputError (exit 2) before anything is
/// measured where they are wrong or nothing is selected.
model::Run measure_suites(const std::vector<std::string>& files, const MeasuringChoice& choice);

/// The files of two builds of the same plugins.
struct SidePlugins {
    std::vector<std::string> base, head;
};

/// Measures the suites with both builds, back to back on one device. The suites are the head's; a
/// case that the base does not offer is skipped there. The base's journal and results belong into
/// base_results(). Throws as measure_suites does.
measure::BothRuns measure_both(const std::vector<std::string>& files, const MeasuringChoice& choice,
                               const SidePlugins& plugins, const measure::AgainOfBoth& again);

/// The base's folder in an output folder.
std::filesystem::path base_results(const std::filesystem::path& out);

}  // namespace perfgate::cli
