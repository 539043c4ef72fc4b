// SPDX-License-Identifier: Apache-2.0
// Choosing a backend, starting its worker, and measuring suites with it: what `run` and
// `baseline refresh` share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/coordinator.hpp"
#include "model/run.hpp"

namespace CLI {
class App;
}

namespace perfgate::cli {

struct BackendChoice {
    std::string backend = "auto";      ///< "auto", "cuda" or "host"
    std::string device;                ///< empty: the first one
    std::vector<std::string> plugins;  ///< besides the bundled ones
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
};

void add_backend_options(CLI::App& app, BackendChoice& choice);
/// All that says how suites are measured, but for filters, tags and the output folder, which other
/// verbs have too.
void add_measuring_options(CLI::App& app, MeasuringChoice& choice);

/// The command line of a worker for this backend ("cuda" or "host").
std::vector<std::string> worker_command(const BackendChoice& choice, const std::string& backend);

/// A backend whose worker has answered.
struct OpenedBackend {
    std::string name;  ///< "cuda" or "host"
    measure::MeasureOptions options;
    std::unique_ptr<measure::Workers> workers;  ///< refers to `options`
    measure::Capabilities capabilities;
};

/// `auto` takes the GPU where there is one and says in one line on stderr when there is none.
/// Throws model::Error where the chosen backend cannot measure, with the remedy.
std::unique_ptr<OpenedBackend> open_backend(const BackendChoice& choice);

/// Loads, plans and measures the suites. Throws model::InputError (exit 2) before anything is
/// measured where they are wrong or nothing is selected.
model::Run measure_suites(const std::vector<std::string>& files, const MeasuringChoice& choice);

}  // namespace perfgate::cli
