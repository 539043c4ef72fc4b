// SPDX-License-Identifier: Apache-2.0
#include "inject/device_sampler.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

namespace perfgate::inject {
namespace {

/// The driver may not answer while the program launches or ends.
constexpr std::chrono::seconds longest_hold{3}, longest_begin{2}, longest_end{3};
/// Where samples come faster than they are read, the next step goes on.
constexpr std::chrono::milliseconds longest_read{500};
/// One thread takes half of this time to read a sample (seen on an H100): with several devices each
/// has fewer.
constexpr std::uint64_t interval_ns = 200'000;
constexpr std::uint64_t longest_in_intervals = 10;
/// Before this one a metric is in % of its peak, from it on in bytes of the interval.
constexpr auto first_in_bytes = static_cast<std::size_t>(activity::SampledMetric::pcie_read);

std::vector<std::string> with(std::string_view suffix, std::vector<std::string> names) {
    for (std::string& name : names) name += suffix;
    return names;
}

std::vector<std::string> share(std::vector<std::string> names) {
    return with(".avg.pct_of_peak_sustained_elapsed", std::move(names));
}

std::vector<std::string> sum(std::vector<std::string> names) {
    return with(".sum", std::move(names));
}

}  // namespace

const cupti::CounterRows& sampled_counters() {
    // The names with "Triage" are those that CUPTI means to be sampled together.
    static const cupti::CounterRows rows{
        share({"TPC.TriageCompute.sm__cycles_active", "SM_A.TriageAC.sm__cycles_active",
               "SM.TriageA.sm__cycles_active", "sm__cycles_active"}),
        share({"TPC.TriageCompute.sm__pipe_tensor_cycles_active_realtime",
               "sm__pipe_tensor_cycles_active_realtime", "sm__pipe_tensor_cycles_active"}),
        share({"FBSP.TriageCompute.dramc__read_throughput",
               "FBSP.TriageCompute.dram__read_throughput", "FBSP.TriageAC.dramc__read_throughput",
               "FBPA.TriageA.dramc__read_throughput", "dram__read_throughput"}),
        share({"FBSP.TriageCompute.dramc__write_throughput",
               "FBSP.TriageCompute.dram__write_throughput", "FBSP.TriageAC.dramc__write_throughput",
               "FBPA.TriageA.dramc__write_throughput", "dram__write_throughput"}),
        share({"LTS.TriageCompute.lts__throughput", "lts__throughput"}),
        sum({"PCI.TriageCompute.pcie__read_bytes", "PCI.TriageAC.pcie__read_bytes",
             "PCI.TriageA.pcie__read_bytes", "pcie__read_bytes"}),
        sum({"PCI.TriageCompute.pcie__write_bytes", "PCI.TriageAC.pcie__write_bytes",
             "PCI.TriageA.pcie__write_bytes", "pcie__write_bytes"}),
        sum({"NVLRX.TriageCompute.nvlrx__bytes", "nvlrx__bytes"}),
        sum({"NVLTX.TriageCompute.nvltx__bytes", "nvltx__bytes"}),
    };
    return rows;
}

void DeviceSampler::fail(std::uint32_t device, const std::string& why) {
    writer_.problem("GPU " + std::to_string(device) + " was not sampled: " + why);
    devices_[device] = nullptr;
}

bool DeviceSampler::read(std::uint32_t device, cupti::DeviceSampling& sampling, Time until) {
    activity::Records records;
    const auto& counters = sampling.counters();
    const std::uint64_t longest =
        longest_in_intervals * static_cast<std::uint64_t>(sampling.interval().count());
    const auto rest = sampling.read(
        [&](std::uint64_t start, std::uint64_t end, std::span<const double> values) {
            // The first one reaches back to the set-up, half a second (seen on an H100).
            if (start == 0 || end <= start || end - start > longest) return;
            activity::DeviceSample& sample = records.device_samples.emplace_back();
            sample.start_ns = start;
            sample.end_ns = end;
            sample.device = device;
            std::size_t next = 0;
            for (std::size_t row = 0; row < activity::sampled_metrics; ++row) {
                double value = counters[row].empty() ? activity::not_sampled : values[next++];
                if (!std::isfinite(value)) value = activity::not_sampled;
                if (row >= first_in_bytes && value > 0) {
                    value *= 1e9 / static_cast<double>(end - start);
                }
                sample.bits[row] = std::bit_cast<std::uint32_t>(static_cast<float>(value));
            }
        },
        until);
    writer_.append(records);
    if (rest == cupti::DeviceSampling::Rest::lost) {
        writer_.problem("samples of GPU " + std::to_string(device) +
                        " are missing: they came faster than they could be read");
        devices_[device] = nullptr;
    }
    return rest != cupti::DeviceSampling::Rest::some;
}

void DeviceSampler::hold() noexcept try {
    // Others that come meanwhile are waited for by their own first launch.
    const std::uint64_t wanted = wanted_;
    const auto is_settled = [&] { return (settled_ & wanted) == wanted || over_; };
    if (is_settled()) return;
    launched_ = true;
    std::unique_lock lock(hold_mutex_);
    settles_.wait_for(lock, longest_hold + std::popcount(wanted & ~settled_) * longest_begin,
                      is_settled);
    settled_ |= wanted;
} catch (...) {
    // The first samples are missing.
}

void DeviceSampler::begin(std::uint32_t device) {
    const auto devices = static_cast<std::uint64_t>(std::popcount(wanted_.load()));
    const std::uint64_t interval = interval_ns * devices;
    try {
        devices_[device] =
            std::make_unique<cupti::DeviceSampling>(api_, device, sampled_counters(), interval);
    } catch (const util::Error& error) {
        fail(device, error.what());
    }
    const std::lock_guard lock(hold_mutex_);
    settled_ |= std::uint64_t{1} << device;
    settles_.notify_all();
}

void DeviceSampler::step() {
    // While the program makes its first context, the driver would be waited for.
    if (!launched_) return;
    const std::lock_guard lock(mutex_);
    if (over_) return;
    const std::uint64_t wanted = wanted_;
    for (std::uint32_t device = 0; device < 64; ++device) {
        if ((wanted >> device & 1) == 0 || devices_.contains(device)) continue;
        // It takes a second, for which the others are not read.
        begin(device);
        break;
    }
    for (auto& [device, sampling] : devices_) {
        if (over_) return;
        if (sampling == nullptr) continue;
        try {
            read(device, *sampling, std::chrono::steady_clock::now() + longest_read);
        } catch (const util::Error& error) {
            fail(device, error.what());
        }
    }
}

void DeviceSampler::finish() {
    {
        const std::lock_guard lock(hold_mutex_);
        over_ = true;
        settles_.notify_all();
    }
    const std::unique_lock lock(mutex_, longest_end);
    if (!lock.owns_lock()) {
        writer_.problem("samples are missing: the driver did not answer before the program ended");
        return;
    }
    const Time until = std::chrono::steady_clock::now() + longest_end;
    for (auto& [device, sampling] : devices_) {
        if (sampling == nullptr) continue;
        try {
            sampling->stop();
            if (!read(device, *sampling, until)) {
                throw util::Error("they were too many to be read when the program ended");
            }
        } catch (const util::Error& error) {
            writer_.problem("samples of GPU " + std::to_string(device) +
                            " are missing: " + error.what());
        }
        sampling.reset();
    }
    for (std::uint32_t device = 0; device < 64; ++device) {
        if ((wanted_ >> device & 1) != 0 && !devices_.contains(device)) {
            fail(device, "the program ended first");
        }
    }
}

}  // namespace perfgate::inject
