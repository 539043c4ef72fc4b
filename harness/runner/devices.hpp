// SPDX-License-Identifier: Apache-2.0
// Choosing a backend and its devices, locking them, starting their workers, and asking one what
// plugins offer.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "measure/device_lock.hpp"
#include "measure/workers.hpp"
#include "model/catalogue.hpp"
#include "model/environment.hpp"
#include "model/plan.hpp"
#include "runner/checkout.hpp"
#include "runner/choice.hpp"
#include "suite/suite.hpp"

namespace perfgate::runner {

/// The command line of a worker for this backend ("cuda" or "host") and one device; empty: the
/// first.
std::vector<std::string> worker_command(const BackendChoice& choice, const std::string& backend,
                                        const std::string& device);

/// A backend whose worker has answered. The devices have one key.
struct OpenedBackend {
    std::string name;                        ///< "cuda" or "host"
    std::vector<measure::DeviceLock> locks;  ///< if requested; released last
    struct Device {
        std::string id;  ///< as passed to a worker: with CUDA, the device number
        model::Device device;
        std::unique_ptr<measure::Workers> workers;
    };
    std::vector<Device> devices;  ///< one at least
    /// The GPUs visible to programs, by UUID; none on the host. One, or as many as share_gpus
    /// chose.
    std::vector<std::string> visible;
    measure::Capabilities capabilities;  ///< of the first
    /// Keeps the devices open, without a context, for the lifetime of this object: the driver sets
    /// up and tears down a device that is not open, and each worker would wait for that. None on
    /// the host.
    std::unique_ptr<measure::Workers> keeper;
    std::chrono::steady_clock::time_point since;  ///< when it was requested
    BackendChoice chosen;                         ///< with what the suites name
};

/// The files of plugins that a run of the plan depends on: the chosen ones, and of the bundled ones
/// those with a workload of the plan.
std::vector<std::string> plugins_of(const OpenedBackend& opened, const model::Plan& plan);

/// Whether the kernel's driver shows an NVIDIA GPU below `root` and CUDA_VISIBLE_DEVICES does not
/// hide all of them. Needs neither CUDA nor the backend.
bool has_nvidia_gpu(const std::filesystem::path& root = "/");

/// What a run does before it opens devices.
struct BeforeOpening {
    measure::DeviceLock::Waiting locking;
    /// Called with the backend's name and the first device, before any lock is waited for.
    std::function<void(const std::string& backend, const model::Device& device)> check;
};

/// `auto` takes the GPU if there is one, and otherwise says so in one line on stderr. With
/// `before`, the devices are locked before they are opened. Throws util::Error, with the remedy, if
/// the chosen backend cannot measure, or `auto` cannot on a machine with a GPU.
OpenedBackend open_backend(const BackendChoice& choice, const BeforeOpening* before = nullptr);

/// Makes so many GPUs of the first device's model visible to programs, or model::all_gpus: those
/// that `choice` names, else the first ones. Locks them if the backend's devices are locked, and
/// appends their number, which it returns, to the device key. Throws util::InputError if there are
/// fewer; of all_gpus, one or none changes nothing.
std::size_t share_gpus(OpenedBackend& backend, const MeasuringChoice& choice, int wanted);

/// The device that it would open, which stays closed and is not waited for. Throws as
/// open_backend does.
model::Device device_of(const BackendChoice& choice);

/// Reads the baselines that suites of these names have on the device; throws util::InputError.
using CheckBaselines =
    std::function<void(const model::Device& device, const std::vector<std::string>& suites)>;

/// For a run: locks the devices, and from now on interruptions end it gracefully. The suites, their
/// plugins, the selection and the baselines are checked before any lock is waited for
/// (util::InputError). Workers load the plugins that the suites name, and their Python files as the
/// checkout has them.
OpenedBackend open_to_measure(const MeasuringChoice& choice,
                              const std::vector<std::string>& suites = {},
                              const CheckBaselines& check_baselines = {},
                              const Checkout& checkout = {});

/// The other side of a comparison, whose devices are locked.
OpenedBackend open_beside(const MeasuringChoice& choice, const std::vector<std::string>& suites,
                          const Checkout& checkout);

measure::Workers& first_workers(OpenedBackend& backend);

/// Workers of the first device, without plugins and Python: for what is about no case.
std::unique_ptr<measure::Workers> plain_workers(const OpenedBackend& backend);

/// Empty if the worker does not answer.
model::BoardState board_state(measure::Workers& workers);
/// Errors are in `problem`: a run is valid without its ceilings.
model::Ceilings measure_ceilings(measure::Workers& workers);

/// The workloads that plugins offer, queried from a worker: the coordinator itself loads no plugin.
/// The bundled plugins' workloads and those of `plugins`. Needs no GPU.
model::WorkloadCatalogue load_workload_catalogue(const std::vector<std::string>& plugins);
/// With the plugins that the suites name, for a verb that measures them; without the bundled ones
/// if no suite has a workload of a plugin.
model::WorkloadCatalogue load_workloads_of(const std::vector<std::string>& suites,
                                           const std::vector<std::string>& plugins);

/// The suites, for what executes nothing that they name. Throws util::InputError also for a plugin
/// that a suite names and `plugins` lacks.
std::vector<suite::Suite> read_suites(const std::vector<std::string>& files,
                                      const std::vector<std::string>& plugins);

}  // namespace perfgate::runner
