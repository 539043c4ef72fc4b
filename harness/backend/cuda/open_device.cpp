// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/open_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <mutex>

#include "util/text.hpp"

namespace perfgate::backend::cuda {
namespace {

std::string lower(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

/// CUPTI's names of runtime calls end in the CUDA version that they are from: "_v7000".
std::string without_version(std::string name) {
    const std::size_t at = name.rfind("_v");
    const bool versioned =
        at != std::string::npos && at + 2 < name.size() &&
        std::all_of(name.begin() + static_cast<std::ptrdiff_t>(at) + 2, name.end(),
                    [](unsigned char c) { return std::isdigit(c) != 0; });
    if (versioned) name.resize(at);
    return name;
}

bool starts_with(const std::string& text, const std::string& beginning) {
    return lower(text).rfind(lower(beginning), 0) == 0;
}

/// Whether the stream's work goes into a graph, or may.
bool is_captured(CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult code = driver().cuStreamIsCapturing(stream, &status);
    return code != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace

int find_device(const std::string& wanted) {
    const int count = device_count();
    if (count == 0) {
        throw util::Error(
            "the CUDA driver finds no device: check CUDA_VISIBLE_DEVICES, or pass --backend host");
    }
    if (wanted.empty()) return 0;

    const auto number = util::parsed<int>(wanted);
    if (number && *number >= 0 && *number < count) return *number;
    std::string devices;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        const DeviceFacts facts = device_facts(ordinal);
        // "GPU-" alone would match any device.
        const bool names_uuid = wanted.size() > 4 && starts_with(facts.uuid, wanted);
        if (names_uuid || lower(facts.pci_bus_id) == lower(wanted)) return ordinal;
        devices += fmt::format("{}{} ({}, {})", devices.empty() ? "" : "; ", ordinal, facts.name,
                               facts.pci_bus_id);
    }
    throw util::InputError(
        "--devices {}: no such device; expected an index, a UUID or a PCI bus id of {}", wanted,
        devices);
}

std::vector<int> find_devices(const std::string& wanted) {
    std::vector<int> ordinals;
    if (wanted == "all") {
        const int count = device_count();
        for (int ordinal = 0; ordinal < count; ++ordinal) ordinals.push_back(ordinal);
        if (ordinals.empty()) find_device("");  // reports what is wrong
        return ordinals;
    }
    for (std::size_t begin = 0; begin <= wanted.size();) {
        const std::size_t end = std::min(wanted.find(',', begin), wanted.size());
        const std::string one = wanted.substr(begin, end - begin);
        if (one.empty() && !wanted.empty()) {
            throw util::InputError(
                "--devices {}: a device is empty; expected a list such as 0,1, or all", wanted);
        }
        const int ordinal = find_device(one);
        if (std::ranges::find(ordinals, ordinal) != ordinals.end()) {
            throw util::InputError("--devices {}: '{}' is there twice; name each device once",
                                   wanted, one);
        }
        ordinals.push_back(ordinal);
        begin = end + 1;
    }
    return ordinals;
}

OpenDevice::OpenDevice(int ordinal, bool use_cupti)
    : facts_(device_facts(ordinal)), context_(ordinal), use_cupti_(use_cupti) {
    if (!use_cupti) {
        cupti_problem_ = "CUPTI is switched off (--no-cupti)";
        return;
    }
    try {
        subscriber_.emplace();
    } catch (const util::Error& error) {
        cupti_problem_ = error.what();
    }
}

void OpenDevice::keep_code() {
    if (keeps_code_ || !has_cupti()) return;
    using Site = Subscriber::ModuleCall::Site;
    subscriber_->on_module([this](std::span<const char> cubin) { code_.add(cubin); },
                           [this](const Subscriber::ModuleCall& call) {
                               if (call.site == Site::load_begins) code_.begin_module();
                               if (call.site == Site::load_ends) code_.end_module(call.module);
                               if (call.site == Site::unload_begins) {
                                   code_.forget_module(call.module);
                               }
                           });
    keeps_code_ = true;
}

LoadedFunction OpenDevice::loaded_function(const std::string& symbol, CUfunction function) const {
    CUmodule module = nullptr;
    const CUfunction of_context = function_of_context(function);
    if (of_context == nullptr || driver().cuFuncGetModule(&module, of_context) != CUDA_SUCCESS) {
        return code_.of(symbol);
    }
    return code_.of(symbol, module);
}

L2Flush& OpenDevice::flush() {
    if (!flush_) flush_.emplace(facts_);
    return *flush_;
}

const AddedWork& OpenDevice::added_work() {
    if (!added_work_) added_work_.emplace(stream_.get());
    return *added_work_;
}

StreamBlocker& OpenDevice::blocker() {
    if (!blocker_) blocker_.emplace();
    return *blocker_;
}

void OpenDevice::require_cupti(const char* what) const {
    if (!has_cupti()) throw util::Error("{}: {}", what, cupti_problem_);
}

std::vector<ObservedLaunch> OpenDevice::launches_made_by(const std::function<void()>& launch) {
    require_cupti("kernel records");
    std::vector<ObservedLaunch> launches;
    std::mutex mutex;  // other threads may launch, too
    subscriber_->on_launch(
        [&](const Subscriber::Launch& entered) {
            ObservedLaunch observed{entered.function,
                                    fingerprint_of_arguments(entered.function, entered.arguments),
                                    is_captured(entered.stream), entered.call};
            const std::lock_guard lock(mutex);
            launches.push_back(std::move(observed));
        },
        [&](std::uint32_t call) {
            const std::lock_guard lock(mutex);
            std::erase_if(launches, [call](const auto& observed) { return observed.call == call; });
        });
    try {
        launch();
    } catch (...) {
        subscriber_->on_launch({});
        throw;
    }
    subscriber_->on_launch({});
    return launches;
}

std::map<std::string, std::int64_t> OpenDevice::calls_made_by(const std::function<void()>& work) {
    require_cupti("API calls");
    std::map<std::string, std::int64_t> calls;
    subscriber_->on_call([&](const char* name) { ++calls[without_version(name)]; });
    try {
        work();
    } catch (...) {
        subscriber_->on_call({});
        throw;
    }
    subscriber_->on_call({});
    return calls;
}

RangeProfiler& OpenDevice::profiler() {
    require_cupti("counters");
    if (!counters_problem_.empty()) throw util::Error(counters_problem_);
    if (!profiler_) {
        try {
            profiler_ = std::make_unique<RangeProfiler>(context_, facts_.ordinal, *subscriber_);
        } catch (const util::Error& error) {
            counters_problem_ = error.what();
            throw;
        }
    }
    return *profiler_;
}

std::string OpenDevice::counters_problem() {
    try {
        profiler();
        return {};
    } catch (const util::Error& error) {
        return error.what();
    }
}

}  // namespace perfgate::backend::cuda
