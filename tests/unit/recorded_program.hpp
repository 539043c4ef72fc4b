// SPDX-License-Identifier: Apache-2.0
// A recording that a test writes down call by call.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "activity/analysis.hpp"

namespace perfgate::activity {

inline constexpr std::uint32_t main_thread = 1, other_thread = 2;

/// Times in nanoseconds.
class Program {
  public:
    Program() {
        recording_.strings = {""};
        recording_.configurations = {{}};
    }

    StringId id(const std::string& text) {
        for (StringId i = 0; i < recording_.strings.size(); ++i) {
            if (recording_.strings[i] == text) return i;
        }
        recording_.strings.push_back(text);
        return static_cast<StringId>(recording_.strings.size() - 1);
    }

    Program& kernel(const std::string& symbol, std::uint64_t launch, Interval time,
                    std::uint32_t thread = main_thread, std::uint32_t registers = 32) {
        LaunchConfiguration configuration;
        configuration.id = static_cast<std::uint32_t>(recording_.configurations.size());
        configuration.symbol = id(symbol);
        configuration.grid = {8, 1, 1};
        configuration.registers_per_thread = registers;
        for (const LaunchConfiguration& known : recording_.configurations) {
            if (known.symbol == configuration.symbol && known.registers_per_thread == registers) {
                configuration.id = known.id;
            }
        }
        if (configuration.id == recording_.configurations.size()) {
            recording_.configurations.push_back(configuration);
        }
        Kernel kernel;
        kernel.start_ns = time.begin;
        kernel.end_ns = time.end;
        kernel.configuration = configuration.id;
        kernel.place.correlation = launched(launch, thread);
        recording_.records.kernels.push_back(kernel);
        return *this;
    }

    /// The nodes of one graph launch, one behind the other, each as long as the last.
    Program& graph(const std::string& symbol, std::uint64_t launch, Interval first, int nodes) {
        kernel(symbol, launch, first);
        for (int node = 0; node < nodes; ++node) {
            if (node != 0) recording_.records.kernels.push_back(recording_.records.kernels.back());
            Kernel& kernel = recording_.records.kernels.back();
            kernel.graph.node = static_cast<std::uint64_t>(node) + 1;
            kernel.start_ns = first.begin + static_cast<std::uint64_t>(node) * first.length();
            kernel.end_ns = kernel.start_ns + first.length();
        }
        return *this;
    }

    Program& copy(std::uint64_t launch, Interval time, std::uint64_t bytes, MemoryKind source) {
        Copy copy;
        copy.start_ns = time.begin;
        copy.end_ns = time.end;
        copy.bytes = bytes;
        copy.kind = CopyKind::host_to_device;
        copy.source = source;
        copy.destination = MemoryKind::device;
        copy.place.correlation = launched(launch, main_thread);
        recording_.records.copies.push_back(copy);
        return *this;
    }

    Program& range(const std::string& name, Interval time, std::uint32_t thread = main_thread) {
        Marker begin;
        begin.id = ++markers_;
        begin.kind = MarkerKind::begin;
        begin.time_ns = time.begin;
        begin.name = id(name);
        begin.thread = thread;
        recording_.records.markers.push_back(begin);
        if (time.end == 0) return *this;  // never closed
        Marker end = begin;
        end.kind = MarkerKind::end;
        end.time_ns = time.end;
        end.name = 0;
        recording_.records.markers.push_back(end);
        return *this;
    }

    Program& call(const std::string& name, Interval time, std::uint32_t thread = main_thread,
                  std::uint32_t correlation = 0) {
        recording_.records.api_calls.push_back({time.begin, time.end, id(name), thread,
                                                correlation == 0 ? ++correlations_ : correlation,
                                                0});
        return *this;
    }

    Program& communicator(std::uint64_t id, std::uint32_t ranks, std::uint32_t rank) {
        recording_.records.communicators.push_back({id, ranks, rank});
        return *this;
    }

    /// A range of NCCL, and what it says to be communicated; without a size only the range.
    Program& nccl(const std::string& name, Interval time, std::uint64_t communicator = 0,
                  std::uint64_t bytes = 0, std::uint32_t thread = main_thread) {
        if (bytes != 0) {
            recording_.records.communication_calls.push_back(
                {time.begin - 1, communicator, bytes, thread, 0});
        }
        range(name, time, thread);
        Marker& begin = recording_.records.markers[recording_.records.markers.size() - 2];
        begin.domain = id("NCCL");
        return *this;
    }

    /// Values in the order of SampledMetric; the others were not sampled.
    Program& sample(Interval time, const std::vector<float>& values, std::uint32_t device = 0) {
        DeviceSample sample{time.begin, time.end, device, {}};
        for (std::size_t i = 0; i < sample.bits.size(); ++i) {
            sample.bits[i] =
                std::bit_cast<std::uint32_t>(i < values.size() ? values[i] : not_sampled);
        }
        recording_.records.device_samples.push_back(sample);
        return *this;
    }

    Program& field(const std::string& key, const std::string& value) {
        recording_.header[key] = value;
        return *this;
    }

    Program& last_call_failed() {
        recording_.records.api_calls.back().result = 2;
        return *this;
    }

    Program& profiler(ProfilerCallKind kind, std::uint64_t time) {
        recording_.records.profiler_calls.push_back({time, main_thread, kind});
        return *this;
    }

    Program& code(const std::string& symbol, const std::string& fingerprint) {
        recording_.records.function_codes.push_back({id(symbol), id(fingerprint)});
        return *this;
    }

    Program& device(std::uint32_t sms) {
        Device device;
        device.sm_count = sms;
        recording_.records.devices.push_back(device);
        return *this;
    }

    Program& clock(ClockReading reading) {
        recording_.records.clocks.push_back(reading);
        return *this;
    }

    Program& level(const std::string& level) {
        recording_.header["level"] = level;
        return *this;
    }

    Program& memory(MemoryEvent event) {
        recording_.records.memory_events.push_back(event);
        return *this;
    }

    Program& allocation(std::uint64_t time, std::uint64_t address, std::uint64_t bytes,
                        std::uint32_t device = 0, MemoryKind kind = MemoryKind::device) {
        MemoryEvent event;
        event.time_ns = time;
        event.address = address;
        event.bytes = bytes;
        event.device = device;
        event.kind = kind;
        event.correlation = ++correlations_;
        return memory(event);
    }

    Program& release(std::uint64_t time, std::uint64_t address,
                     MemoryKind kind = MemoryKind::device) {
        allocation(time, address, 0, 0, kind);
        recording_.records.memory_events.back().release = 1;
        return *this;
    }

    Program& overhead(std::uint32_t kind, Interval time) {
        recording_.records.overheads.push_back({time.begin, time.end, kind, main_thread});
        return *this;
    }

    [[nodiscard]] const Recording& recording() const { return recording_; }

    Profile profile(const ProfileOptions& options = {}) const {
        return profile_of(Timeline(recording_), options);
    }

  protected:
    std::uint32_t launched(std::uint64_t time, std::uint32_t thread) {
        recording_.records.launch_calls.push_back({time, thread, ++correlations_});
        return correlations_;
    }

    Recording recording_;
    std::uint32_t correlations_ = 0, markers_ = 0;
};

}  // namespace perfgate::activity
