// SPDX-License-Identifier: Apache-2.0
//
// The board's state from NVML, the library behind nvidia-smi, by dlopen. Everything is optional: a
// machine without NVML, or a board that does not report a value, yields empty values, never an
// error.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace perfgate::backend::cuda {

struct ComputeProcess {
    unsigned pid = 0;  ///< in the driver's namespace, which may differ inside a container
    std::optional<std::uint64_t> memory_bytes;
};

/// One reading. Clocks in MHz, temperature in °C, power in W.
struct NvmlReading {
    std::optional<unsigned> sm_clock_mhz;
    std::optional<unsigned> memory_clock_mhz;
    std::optional<unsigned> max_sm_clock_mhz;
    std::optional<unsigned> max_memory_clock_mhz;
    std::optional<unsigned> temperature_c;
    std::optional<double> power_w;
    std::optional<double> power_limit_w;
    std::optional<std::uint64_t> throttle_bits;  ///< NVML's clocks-event reasons
    std::vector<std::string> throttle_reasons;   ///< the bits in words
    std::optional<bool> persistence_mode;
    std::optional<bool> ecc;
    std::optional<bool> mig;
    std::optional<std::vector<ComputeProcess>> compute_processes;
};

/// "power cap", "hardware thermal slowdown", … for each bit that is set. Unknown bits are named by
/// their number, so that a newer driver's reason is not lost.
std::vector<std::string> throttle_words(std::uint64_t bits);

/// True if one of the reasons means that the clocks are held below what was requested (idleness and
/// an application's clock setting do not count).
bool throttled(std::uint64_t bits);

class Nvml {
  public:
    /// `uuid` as DeviceFacts gives it, `pci_bus_id` if the UUID is not found. Null if there is
    /// no NVML; `why` gets the reason.
    static std::unique_ptr<Nvml> open(const std::string& uuid, const std::string& pci_bus_id,
                                      std::string* why = nullptr);
    ~Nvml();
    Nvml& operator=(Nvml&&) = delete;  // nor copied

    /// "580.159.04"; empty if it is not reported.
    [[nodiscard]] std::string driver_version() const;
    /// Settings (largest clocks, power limit, persistence, ECC, MIG) are those at open().
    [[nodiscard]] NvmlReading read() const;
    /// Energy of the whole board since the driver was loaded, mJ. Nothing if it is not reported;
    /// `why` gets the reason, with the remedy.
    std::optional<std::uint64_t> energy_mj(std::string* why) const;
    /// The processes that compute on the board; nothing if they are not reported.
    [[nodiscard]] std::optional<std::vector<ComputeProcess>> compute_processes() const;
    /// The rate of all active NVLinks together in one direction; 0 if the device has none. If
    /// their number or rate is not reported, 0, and `why` says so.
    double link_bytes_per_s(std::string* why) const;
    /// Power of the board, W.
    [[nodiscard]] std::optional<double> power_w() const;

  private:
    struct Api;
    Nvml(std::unique_ptr<Api> api, void* device);
    template <typename Function, typename... Arguments>
    std::optional<unsigned> number(Function function, Arguments... arguments) const;
    [[nodiscard]] NvmlReading read_settings() const;

    std::unique_ptr<Api> api_;
    void* device_;
    NvmlReading settings_;
};

}  // namespace perfgate::backend::cuda
