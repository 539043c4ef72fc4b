// SPDX-License-Identifier: Apache-2.0
#include "inject/launch_watch.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>

#include "model/communication_kernel.hpp"

namespace perfgate::inject {
namespace {

/// 16 MB of the recording.
constexpr std::uint64_t most_launches = 4'000'000;
/// Launches are written in chunks.
constexpr std::size_t launches_in_chunk = 16384;

}  // namespace

bool find_driver(DriverApi& driver, std::string& why) {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    const auto find = [&](auto& function, const char* name) {
        if (library == nullptr) return;
        function =
            reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    };
    find(driver.synchronise, "cuCtxSynchronize");
    find(driver.uuid_of, "cuDeviceGetUuid_v2");
    find(driver.name_of, "cuFuncGetName");
    find(driver.name_of_kernel, "cuKernelGetName");
    if (driver.synchronise == nullptr) why = "the driver's cuCtxSynchronize was not found";
    return driver.synchronise != nullptr;
}

LaunchWatch::LaunchWatch(const cupti::Api& counters, const DriverApi& driver,
                         const cupti::Captures& captures, activity::Writer& writer,
                         const CounterRequest& request, RangeWatch& ranges)
    : counters_(counters),
      driver_(driver),
      captures_(captures),
      writer_(writer),
      request_(request),
      ranges_(ranges),
      labels_(request.labels, ranges) {}

void LaunchWatch::on_graph_node(CUpti_CallbackId id, const CUpti_CallbackData& data) {
    const auto [function, kernel] = cupti::graph_kernel_of(id, data);
    const char* name = nullptr;
    if (function != nullptr && driver_.name_of != nullptr) driver_.name_of(&name, function);
    if (name == nullptr && kernel != nullptr && driver_.name_of_kernel != nullptr) {
        driver_.name_of_kernel(&name, kernel);
    }
    if (function == nullptr && kernel == nullptr) return;  // a node of another kind
    if (name == nullptr) {
        refuse_all("a kernel without a name is in a CUDA graph");
        return;
    }
    note_captured(name);
}

void LaunchWatch::note_captured(const std::string& symbol) {
    for (const std::size_t label : labels_.matching(symbol)) {
        refuse(label, readable(symbol) +
                          " is in a CUDA graph, where launches cannot be counted one by one");
    }
}

bool LaunchWatch::on_entry(CUpti_CallbackId id, const CUpti_CallbackData& data) {
    current_.clear();
    const std::string symbol = data.symbolName == nullptr ? "" : data.symbolName;
    const cupti::KernelLaunch launch = cupti::launch_of(id, data);
    if (captures_.holds(launch.stream)) {
        note_captured(symbol);
        return false;
    }
    if (labels_.all_done()) return false;
    if (launches_ >= most_launches) {
        refuse_all("there are more than " + std::to_string(most_launches) +
                   " launches before the last one to count");
        return false;
    }
    note_context(data.context);
    add_to_sequence(symbol, launch);
    const model::LaunchSize size{launch.grid, launch.block};
    if (size.is_any()) {
        for (const std::size_t label : labels_.matching(symbol)) {
            if (labels_.needs_size(label)) {
                refuse(label, readable(symbol) +
                                  " is launched by a call that does not pass its "
                                  "grid and block");
            }
        }
    }
    std::vector<std::size_t> due = labels_.due(symbol, size, static_cast<std::uint32_t>(gettid()));
    if (due.empty()) return false;
    std::string why =
        why_not(symbol, data.context, cupti::contains(cupti::launches_on_several_devices, id));
    if (why.empty() && captures_.may_hold(launch.stream)) {
        why =
            "a stream is being captured into a CUDA graph meanwhile, so the launch cannot be "
            "counted by itself";
    }
    if (why.empty()) {
        try {
            begin_counting(data.context);
            if (counter_->counters().empty()) {
                // Nothing can be counted, or not in this pass; the plan says so.
                for (const std::size_t label : due) labels_.finish(label);
                return false;
            }
        } catch (const util::Error& error) {
            why = error.what();
        }
    }
    if (!why.empty()) {
        for (const std::size_t label : due) refuse(label, why);
        return false;
    }
    current_ = std::move(due);
    return true;
}

void LaunchWatch::add_to_sequence(const std::string& symbol, const cupti::KernelLaunch& launch) {
    activity::LaunchConfiguration configuration;
    configuration.symbol = writer_.string(symbol);
    configuration.grid = launch.grid;
    configuration.block = launch.block;
    configuration.cluster = launch.cluster;
    configuration.dynamic_smem_bytes = launch.dynamic_smem_bytes;
    configuration.cooperative = launch.cooperative ? 1 : 0;
    pending_.launches.push_back({writer_.configuration(configuration)});
    ++launches_;
    if (pending_.launches.size() < launches_in_chunk) return;
    flush();
}

void LaunchWatch::note_context(CUcontext context) {
    for (const auto& [known, device] : contexts_) {
        if (known == context) return;
    }
    std::uint32_t number = 0;
    if (counters_.cuptiGetDeviceId(context, &number) != CUPTI_SUCCESS) return;
    contexts_.emplace_back(context, number);
    activity::Device device;
    device.id = number;
    CUuuid uuid{};
    if (driver_.uuid_of != nullptr &&
        driver_.uuid_of(&uuid, static_cast<CUdevice>(number)) == CUDA_SUCCESS) {
        static_assert(sizeof(uuid) == sizeof(device.uuid));
        std::memcpy(device.uuid.data(), &uuid, sizeof(uuid));
    }
    pending_.devices.push_back(device);
}

/// Why the next launch cannot be counted; empty: it can.
std::string LaunchWatch::why_not(const std::string& symbol, CUcontext context,
                                 bool several_devices) const {
    if (ranges_.failed()) return "memory ran out, so that NVTX ranges were missed";
    if (model::is_communication_kernel(symbol)) {
        return readable(symbol) +
               " waits for other kernels, and launches are counted one at a time";
    }
    if (several_devices) {
        return "a cooperative launch on several devices waits for all of them, and launches are "
               "counted one at a time";
    }
    if (counter_ != nullptr && counter_->context() != context) {
        return "the matching kernels run in several contexts or on several GPUs: narrow the label "
               "to one of them with 'within'";
    }
    std::optional<std::uint32_t> device;
    for (const auto& [known, number] : contexts_) {
        if (known == context) device = number;
    }
    if (!device) return "CUPTI does not know the device of the context";
    for (const auto& [known, number] : contexts_) {
        if (known != context && number == *device) {
            return "the program has several contexts on the GPU, whose kernels would be counted "
                   "too";
        }
    }
    if (captures_.any()) {
        return "another stream is being captured into a CUDA graph meanwhile, so the launch cannot "
               "be counted by itself";
    }
    return {};
}

void LaunchWatch::begin_counting(CUcontext context) {
    if (counter_ == nullptr) {
        counter_ =
            std::make_unique<LaunchCounter>(counters_, context, request_.counters, request_.pass);
        write_plan();
    }
    if (counter_->counters().empty()) return;
    if (const CUresult code = driver_.synchronise(); code != CUDA_SUCCESS) {
        throw util::Error("the device failed before the launch: error " +
                          std::to_string(static_cast<int>(code)) + " of the driver");
    }
    counter_->start();
}

void LaunchWatch::write_plan() {
    const CounterGroups& plan = counter_->groups();
    pending_.counter_passes.push_back({request_.pass,
                                       static_cast<std::uint32_t>(plan.groups.size()),
                                       writer_.string(counter_->chip()), 0});
    const auto add = [&](const std::string& name, activity::CounterFate fate, std::size_t number) {
        pending_.planned_counters.push_back(
            {writer_.string(name), fate, static_cast<std::uint32_t>(number), 0});
    };
    for (std::size_t pass = 0; pass < plan.groups.size(); ++pass) {
        for (const std::string& name : plan.groups[pass]) {
            add(name, activity::CounterFate::counted, pass);
        }
    }
    for (const std::string& name : plan.absent) add(name, activity::CounterFate::absent, 0);
    for (const auto& [name, passes] : plan.several_passes) {
        add(name, activity::CounterFate::several_passes, passes);
    }
}

void LaunchWatch::on_exit(const CUpti_CallbackData& data) {
    std::string why;
    const bool launched = data.functionReturnValue != nullptr &&
                          *static_cast<const CUresult*>(data.functionReturnValue) == CUDA_SUCCESS;
    if (!launched) {
        why = "the launch to count failed";
    } else if (const CUresult code = driver_.synchronise(); code != CUDA_SUCCESS) {
        why = "the counted kernel failed: error " + std::to_string(static_cast<int>(code)) +
              " of the driver";
    } else {
        try {
            write_values(counter_->stop());
        } catch (const util::Error& error) {
            why = error.what();
        }
    }
    give_up();
    for (const std::size_t label : std::exchange(current_, {})) {
        if (!why.empty()) {
            refuse(label, why);
            continue;
        }
        pending_.counted_launches.push_back({launches_ - 1, static_cast<std::uint32_t>(label), 0});
        labels_.count(label);
    }
    if (labels_.all_done()) ranges_.abandon();
    flush();
}

void LaunchWatch::give_up() noexcept {
    if (counter_ != nullptr) counter_->give_up();
}

void LaunchWatch::write_values(const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(values[i])) continue;
        pending_.counter_values.push_back({launches_ - 1, std::bit_cast<std::uint64_t>(values[i]),
                                           writer_.string(counter_->counters()[i]), 0});
    }
}

bool LaunchWatch::flush() {
    return writer_.append(std::exchange(pending_, {}));
}

void LaunchWatch::refuse(std::size_t label, const std::string& reason) {
    if (!labels_.refuse(label)) return;
    pending_.counter_refusals.push_back(
        {static_cast<std::uint32_t>(label), writer_.string(reason)});
}

void LaunchWatch::refuse_all(const std::string& reason) {
    for (std::size_t label = 0; label < request_.labels.size(); ++label) refuse(label, reason);
}

}  // namespace perfgate::inject
