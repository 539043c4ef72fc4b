// SPDX-License-Identifier: Apache-2.0
#include "inject/counting.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "activity/writer.hpp"
#include "inject/counter_api.hpp"
#include "inject/counter_request.hpp"
#include "inject/cupti_library.hpp"
#include "inject/graph_kernels.hpp"
#include "inject/label_states.hpp"
#include "inject/launch_calls.hpp"
#include "inject/launch_counter.hpp"
#include "inject/process.hpp"
#include "inject/range_watch.hpp"
#include "inject/settings.hpp"

namespace perfgate::inject {
namespace {

/// How long another thread's launch waits for a counted one, which it would disturb.
constexpr std::chrono::seconds patience{20};
/// 16 MB of the recording.
constexpr std::uint64_t launches_at_most = 4'000'000;
/// Launches are written in chunks.
constexpr std::size_t launches_in_chunk = 16384;

/// Where the calling thread is: CUPTI's own calls must not be seen as the program's.
thread_local bool inside = false;
/// It holds the lock from a counted launch's entry to its exit.
thread_local bool counting_launch = false;

class Counting {
  public:
    explicit Counting(const Settings& settings)
        : settings_(settings),
          request_(counter_request_from(settings.counters)),
          ranges_(request_ ? request_->labels : std::vector<CounterLabel>{}) {}

    /// The settings are those of the first call.
    static Counting& instance(const Settings& settings) {
        static auto* counting = new Counting(settings);  // callbacks may come until the end
        return *counting;
    }

    void start() noexcept;
    RangeWatch& ranges() { return ranges_; }

  private:
    static inline Counting* running = nullptr;

    bool prepare(std::string& why);
    bool enable_callbacks(std::string& why);
    static void CUPTIAPI callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                  const void* data);
    void on_call(CUpti_CallbackId id, const CUpti_CallbackData& data);
    void on_graph_node(CUpti_CallbackId id, const CUpti_CallbackData& data);
    void on_entry(CUpti_CallbackId id, const CUpti_CallbackData& data);
    void on_exit_of_counted(const CUpti_CallbackData& data);
    void note_captured(const std::string& symbol);
    void add_to_sequence(const std::string& symbol, const KernelLaunch& launch);
    void note_context(CUcontext context);
    std::string why_not(CUcontext context, bool several_devices) const;
    void begin_counting(CUcontext context);
    void write_plan();
    void refuse(std::size_t label, const std::string& reason);
    void refuse_all(const std::string& reason);
    void end() noexcept;
    void on_fork() noexcept;

    const Settings settings_;
    const std::optional<CounterRequest> request_;
    RangeWatch ranges_;
    CuptiApi api_;
    CounterApi counters_;
    activity::Writer writer_;
    std::atomic<pid_t> pid_{0};
    std::atomic<bool> over_{false};
    CUpti_SubscriberHandle subscriber_ = nullptr;
    Captures captures_;
    decltype(&cuCtxSynchronize) synchronise_ = nullptr;
    decltype(&cuDeviceGetUuid_v2) uuid_of_ = nullptr;
    decltype(&cuFuncGetName) name_of_ = nullptr;
    decltype(&cuKernelGetName) name_of_kernel_ = nullptr;

    /// Of everything below. A counted launch holds it, so that no other launch runs meanwhile.
    std::timed_mutex mutex_;
    std::optional<LabelStates> labels_;
    activity::Records pending_;  ///< not yet written
    std::uint64_t launches_ = 0;
    std::vector<std::pair<CUcontext, std::uint32_t>> contexts_;  ///< that launched, their devices
    std::unique_ptr<LaunchCounter> counter_;
    std::vector<std::size_t> current_;  ///< the labels that the current launch is counted for
};

bool Counting::prepare(std::string& why) {
    if (!request_) {
        why = "the request for counters cannot be read";
        return false;
    }
    labels_.emplace(request_->labels, ranges_);
    if (!load_cupti(settings_.cupti, api_, why) || !load_counters(api_, counters_, why)) {
        return false;
    }
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    const auto find = [&](auto& function, const char* name) {
        if (driver == nullptr) return;
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
            library_function(driver, name));
    };
    find(synchronise_, "cuCtxSynchronize");
    find(uuid_of_, "cuDeviceGetUuid_v2");
    find(name_of_, "cuFuncGetName");
    find(name_of_kernel_, "cuKernelGetName");
    if (synchronise_ == nullptr) {
        why = "the driver's cuCtxSynchronize was not found";
        return false;
    }
    captures_.find_driver();
    return enable_callbacks(why);
}

bool Counting::enable_callbacks(std::string& why) {
    if (subscribe(api_, &subscriber_, &callback, this, why) != CUPTI_SUCCESS) {
        why = "CUPTI gives no callbacks (" + why + "): run without other profilers";
        return false;
    }
    CUptiResult code = CUPTI_SUCCESS;
    const auto enable = [&](const auto& ids) {
        for (const auto id : ids) {
            const CUptiResult result =
                api_.cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id);
            if (code == CUPTI_SUCCESS) code = result;
        }
    };
    enable(kernel_launches);
    enable(launches_on_several_devices);
    enable(graph_launches);
    enable(graph_kernels);
    enable(capture_begins);
    enable(capture_ends);
    if (code != CUPTI_SUCCESS) why = "CUPTI gives no callbacks: " + describe(api_, code);
    return code == CUPTI_SUCCESS;
}

void Counting::start() noexcept {
    if (settings_.folder.empty() || pid_ != 0) return;
    try {
        pid_ = getpid();
        std::string why;
        const bool prepared = prepare(why);
        const activity::Writer::Header header = {{"pid", std::to_string(getpid())},
                                                 {"parent", std::to_string(getppid())},
                                                 {"start", std::to_string(process_start())},
                                                 {"command", command_line()},
                                                 {"rank", rank()},
                                                 {"level", to_text(settings_.level)},
                                                 {"cupti", std::to_string(api_.version)},
                                                 {"cupti_library", api_.path}};
        const std::string file = settings_.folder + "/" + file_name();
        if (writer_.open(file.c_str(), header, settings_.limit_bytes) != 0) {
            over_ = true;
            return;
        }
        if (!prepared) {
            over_ = true;
            writer_.problem(why);
            writer_.end("not started");
            return;
        }
        running = this;
        pthread_atfork(nullptr, nullptr, [] { running->on_fork(); });
        std::atexit([] { running->end(); });
    } catch (...) {
        over_ = true;
        writer_.problem("memory ran out while counting was started");
    }
}

// Nothing may be thrown through the driver's frames.
void CUPTIAPI Counting::callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                 const void* data) {
    auto& own = *static_cast<Counting*>(self);
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || data == nullptr || inside) return;
    // Before start() has opened the recording, or in a child after fork, there is none.
    if (!own.writer_.is_open()) return;
    // A launch that is being counted is brought to its end.
    if (own.over_ && !counting_launch) return;
    inside = true;
    try {
        own.on_call(id, *static_cast<const CUpti_CallbackData*>(data));
    } catch (...) {
        // Without an end the recording is incomplete.
        own.over_ = true;
        if (counting_launch) {
            counting_launch = false;
            own.counter_->give_up();
            own.mutex_.unlock();
        }
    }
    inside = false;
}

void Counting::on_call(CUpti_CallbackId id, const CUpti_CallbackData& data) {
    const bool entry = data.callbackSite == CUPTI_API_ENTER;
    if (counting_launch) {
        if (entry || !contains(kernel_launches, id)) return;
        on_exit_of_counted(data);
        counting_launch = false;
        mutex_.unlock();
        return;
    }
    if (!entry) {
        const bool succeeded =
            data.functionReturnValue != nullptr &&
            *static_cast<const CUresult*>(data.functionReturnValue) == CUDA_SUCCESS;
        captures_.on_call(id, succeeded);
        return;
    }
    if (contains(capture_begins, id) || contains(capture_ends, id)) return;
    std::unique_lock lock(mutex_, patience);
    if (!lock.owns_lock()) {
        // The other launch may wait for this one. What it counts is not its own alone.
        over_ = true;
        writer_.problem("a launch waited for " + std::to_string(patience.count()) +
                        " s for a counted one: kernels that wait for each other cannot be counted");
        return;
    }
    if (contains(graph_launches, id)) return;
    if (contains(graph_kernels, id)) return on_graph_node(id, data);
    on_entry(id, data);
    if (!current_.empty()) {
        counting_launch = true;
        lock.release();
    }
}

void Counting::on_graph_node(CUpti_CallbackId id, const CUpti_CallbackData& data) {
    const auto [function, kernel] = graph_kernel_of(id, data);
    const char* name = nullptr;
    if (function != nullptr && name_of_ != nullptr) name_of_(&name, function);
    if (name == nullptr && kernel != nullptr && name_of_kernel_ != nullptr) {
        name_of_kernel_(&name, kernel);
    }
    if (function == nullptr && kernel == nullptr) return;  // a node of another kind
    if (name == nullptr) {
        refuse_all("a kernel without a name is in a CUDA graph");
        return;
    }
    note_captured(name);
}

void Counting::note_captured(const std::string& symbol) {
    for (const std::size_t label : labels_->matching(symbol)) {
        refuse(label, readable(symbol) +
                          " is in a CUDA graph, where launches cannot be counted one by one");
    }
}

void Counting::on_entry(CUpti_CallbackId id, const CUpti_CallbackData& data) {
    current_.clear();
    const std::string symbol = data.symbolName == nullptr ? "" : data.symbolName;
    const KernelLaunch launch = launch_of(id, data);
    if (captures_.holds(launch.stream)) return note_captured(symbol);
    if (labels_->all_done()) return;
    if (launches_ >= launches_at_most) {
        return refuse_all("there are more than " + std::to_string(launches_at_most) +
                          " launches before the last one to count");
    }
    note_context(data.context);
    const std::uint64_t place = launches_;
    add_to_sequence(symbol, launch);
    std::vector<std::size_t> due = labels_->due(symbol, static_cast<std::uint32_t>(gettid()));
    if (due.empty()) return;
    std::string why = ranges_.failed()
                          ? "memory ran out, so that NVTX ranges were missed"
                          : why_not(data.context, contains(launches_on_several_devices, id));
    if (why.empty() && waits_for_others(symbol)) {
        why = readable(symbol) + " waits for other kernels, and launches are counted one at a time";
    }
    if (why.empty()) {
        try {
            begin_counting(data.context);
            if (counter_->counters().empty()) {
                // Nothing can be counted, or not in this pass; the plan says so.
                for (const std::size_t label : due) labels_->finish(label);
                return;
            }
        } catch (const NotCounted& error) {
            why = error.what();
        }
    }
    if (!why.empty()) {
        for (const std::size_t label : due) refuse(label, why);
        return;
    }
    for (const std::size_t label : due)
        pending_.counted_launches.push_back({place, static_cast<std::uint32_t>(label), 0});
    current_ = std::move(due);
}

void Counting::add_to_sequence(const std::string& symbol, const KernelLaunch& launch) {
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
    writer_.append(std::exchange(pending_, {}));
}

void Counting::note_context(CUcontext context) {
    for (const auto& [known, device] : contexts_) {
        if (known == context) return;
    }
    std::uint32_t number = 0;
    if (counters_.cuptiGetDeviceId(context, &number) != CUPTI_SUCCESS) return;
    contexts_.emplace_back(context, number);
    activity::Device device;
    device.id = number;
    CUuuid uuid{};
    if (uuid_of_ != nullptr && uuid_of_(&uuid, static_cast<CUdevice>(number)) == CUDA_SUCCESS) {
        static_assert(sizeof(uuid) == sizeof(device.uuid));
        std::memcpy(device.uuid.data(), &uuid, sizeof(uuid));
    }
    pending_.devices.push_back(device);
}

/// Why the next launch cannot be counted; empty: it can.
std::string Counting::why_not(CUcontext context, bool several_devices) const {
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

void Counting::begin_counting(CUcontext context) {
    if (counter_ == nullptr) {
        counter_ =
            std::make_unique<LaunchCounter>(counters_, context, request_->counters, request_->pass);
        write_plan();
    }
    if (counter_->counters().empty()) return;
    if (const CUresult code = synchronise_(); code != CUDA_SUCCESS) {
        throw NotCounted("the device failed before the launch: error " +
                         std::to_string(static_cast<int>(code)) + " of the driver");
    }
    counter_->start();
}

void Counting::write_plan() {
    const CounterGroups& plan = counter_->groups();
    pending_.counter_passes.push_back({request_->pass,
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

void Counting::on_exit_of_counted(const CUpti_CallbackData& data) {
    std::string why;
    const bool launched = data.functionReturnValue != nullptr &&
                          *static_cast<const CUresult*>(data.functionReturnValue) == CUDA_SUCCESS;
    if (!launched) {
        counter_->give_up();
        why = "the launch to count failed";
    } else if (const CUresult code = synchronise_(); code != CUDA_SUCCESS) {
        counter_->give_up();
        why = "the counted kernel failed: error " + std::to_string(static_cast<int>(code)) +
              " of the driver";
    } else {
        try {
            const std::vector<double> values = counter_->stop();
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (std::isnan(values[i])) continue;
                pending_.counter_values.push_back({launches_ - 1,
                                                   std::bit_cast<std::uint64_t>(values[i]),
                                                   writer_.string(counter_->counters()[i]), 0});
            }
        } catch (const NotCounted& error) {
            why = error.what();
        }
    }
    for (const std::size_t label : std::exchange(current_, {})) {
        if (why.empty()) {
            labels_->count(label);
        } else {
            refuse(label, why);
        }
    }
    if (labels_->all_done()) ranges_.abandon();
    writer_.append(std::exchange(pending_, {}));
}

void Counting::refuse(std::size_t label, const std::string& reason) {
    if (!labels_->refuse(label)) return;
    pending_.counter_refusals.push_back(
        {static_cast<std::uint32_t>(label), writer_.string(reason)});
}

void Counting::refuse_all(const std::string& reason) {
    for (std::size_t label = 0; label < request_->labels.size(); ++label) refuse(label, reason);
}

void Counting::end() noexcept {
    if (pid_ != getpid() || over_) return;
    try {
        const std::unique_lock lock(mutex_, std::chrono::seconds(5));
        // A launch is being counted: the recording stays without an end.
        if (!lock.owns_lock() || over_.exchange(true)) return;
        if (writer_.append(pending_)) writer_.end("exit");
    } catch (...) {
        // Without an end the recording is incomplete.
    }
}

void Counting::on_fork() noexcept {
    // The child has none of the parent's threads, and any locks they held stay locked.
    pid_ = -1;
    over_ = true;
    ranges_.abandon();
    writer_.abandon();
}

}  // namespace

void start_counting(const Settings& settings) noexcept {
    try {
        Counting::instance(settings).start();
    } catch (...) {
        // Without a recording nothing is counted, which shows.
    }
}

int watch_ranges(NvtxGetExportTableFunc_t export_table, const Settings& settings) noexcept {
    try {
        RangeWatch& ranges = Counting::instance(settings).ranges();
        return ranges.recording() ? take_ranges(export_table, ranges) : 0;
    } catch (...) {
        return 0;
    }
}

}  // namespace perfgate::inject
