// SPDX-License-Identifier: Apache-2.0
// Choosing a backend and its devices, locking them, starting their workers, and asking one what
// plugins offer.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "measure/device_lock.hpp"
#include "measure/workers.hpp"
#include "model/catalogue.hpp"
#include "model/environment.hpp"
#include "runner/checkout.hpp"
#include "runner/choice.hpp"

namespace perfgate::runner {

/// The command line of a worker for this backend ("cuda" or "host") and one device; empty: the
/// first.
std::vector<std::string> worker_command(const BackendChoice& choice, const std::string& backend,
                                        const std::string& device);

/// The files of the plugins that its workers load.
std::vector<std::string> plugins_of(const BackendChoice& choice);

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
    std::chrono::steady_clock::time_point since;           ///< when it was requested
    std::vector<BackendChoice::Interpreter> interpreters;  ///< as BackendChoice has them
};

/// Whether the kernel's driver shows an NVIDIA GPU below `root` and CUDA_VISIBLE_DEVICES does not
/// hide all of them. Needs neither CUDA nor the backend.
bool has_nvidia_gpu(const std::filesystem::path& root = "/");

/// `auto` takes the GPU if there is one, and otherwise says so in one line on stderr. With `lock`,
/// the devices are locked before they are opened. Throws util::Error, with the remedy, if the
/// chosen backend cannot measure, or `auto` cannot on a machine with a GPU.
OpenedBackend open_backend(const BackendChoice& choice,
                           const measure::DeviceLock::Waiting* lock = nullptr);

/// Makes `count` GPUs of the first device's model visible to programs: those that `choice` names,
/// else the first ones. Locks them if the backend's devices are locked, and appends the count to
/// the device key. Throws util::InputError if there are too few.
void share_gpus(OpenedBackend& backend, const MeasuringChoice& choice, std::size_t count);

/// For a run: locks the devices, and from now on interruptions end it gracefully. `files` will be
/// read later: if one is absent, nothing is opened or waited for (util::InputError). Their Python
/// files are those of the checkout.
OpenedBackend open_to_measure(const MeasuringChoice& choice,
                              const std::vector<std::string>& files = {},
                              const Checkout& checkout = {});

/// The other side of a comparison, whose devices are locked.
OpenedBackend open_beside(const MeasuringChoice& choice, const std::vector<std::string>& files,
                          const Checkout& checkout);

measure::Workers& first_workers(OpenedBackend& backend);

/// Empty if the worker does not answer.
model::BoardState board_state(measure::Workers& workers);
/// Errors are in `problem`: a run is valid without its ceilings.
model::Ceilings measure_ceilings(measure::Workers& workers);

/// The workloads that plugins offer, queried from a worker: the coordinator itself loads no plugin.
/// The bundled plugins' workloads and those of `plugins`. Needs no GPU.
model::WorkloadCatalogue load_workload_catalogue(const std::vector<std::string>& plugins);

}  // namespace perfgate::runner
