// SPDX-License-Identifier: Apache-2.0
#include "inject/recorder.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "activity/writer.hpp"
#include "cupti/api.hpp"
#include "cupti/launch_calls.hpp"
#include "inject/counter_request.hpp"
#include "inject/launch_watch.hpp"
#include "inject/process.hpp"
#include "inject/range_watch.hpp"
#include "inject/settings.hpp"

namespace perfgate::inject {
namespace {

/// How long another thread's launch waits for a counted one, which it would disturb.
constexpr std::chrono::seconds patience{20};
/// Where the calling thread is: CUPTI's own calls must not be seen as the program's.
thread_local bool inside = false;
/// It holds the lock from a counted launch's entry to its exit.
thread_local bool counting_launch = false;
/// The same of a call that begins a capture.
thread_local bool beginning_capture = false;

class Counting {
  public:
    explicit Counting(const Settings& settings)
        : settings_(settings),
          request_(counter_request_from(settings.counters)),
          ranges_(request_ ? request_->labels : std::vector<CounterLabel>{}) {}

    /// The settings are those of the first call.
    static Counting& instance(const Settings& settings) {
        // Callbacks may come until the end, and a fork before the driver is initialised.
        static auto* counting = [&] {
            running = new Counting(settings);
            pthread_atfork([] { running->ranges_.before_fork(); },
                           [] { running->ranges_.after_fork(); }, [] { running->on_fork(); });
            return running;
        }();
        return *counting;
    }

    void start() noexcept;
    RangeWatch& ranges() { return ranges_; }

  private:
    static inline Counting* running = nullptr;

    bool prepare(std::string& why);
    bool enable_callbacks(std::string& why);
    static void CUPTIAPI callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                  const void* data) noexcept;
    void on_call(CUpti_CallbackId id, const CUpti_CallbackData& data);
    void end() noexcept;
    void on_fork() noexcept;

    const Settings settings_;
    const std::optional<CounterRequest> request_;
    RangeWatch ranges_;
    cupti::Api api_;
    activity::Writer writer_;
    std::atomic<pid_t> pid_{0};
    std::atomic<bool> over_{false};
    CUpti_SubscriberHandle subscriber_ = nullptr;
    cupti::Captures captures_;
    DriverApi driver_;

    /// Lets one thread into what follows. A counted launch holds it, so that no other launch runs
    /// meanwhile.
    std::timed_mutex mutex_;
    std::optional<LaunchWatch> launches_;
};

bool Counting::prepare(std::string& why) {
    if (!request_) {
        why = "the request for counters cannot be read";
        return false;
    }
    if (!cupti::load(settings_.cupti, api_, why) || !cupti::load_counters(api_, why) ||
        !find_driver(driver_, why)) {
        return false;
    }
    launches_.emplace(api_, driver_, captures_, writer_, *request_, ranges_);
    captures_.find_driver();
    return enable_callbacks(why);
}

bool Counting::enable_callbacks(std::string& why) {
    if (cupti::subscribe(api_, &subscriber_, &callback, this, why) != CUPTI_SUCCESS) {
        why = "CUPTI gives no callbacks (" + why + "): run without other profilers";
        return false;
    }
    CUptiResult code = CUPTI_SUCCESS;
    const auto enable = [&](const auto& ids) {
        const CUptiResult result = cupti::enable_driver_callbacks(api_, subscriber_, ids);
        if (code == CUPTI_SUCCESS) code = result;
    };
    enable(cupti::kernel_launches);
    enable(cupti::launches_on_several_devices);
    enable(cupti::graph_launches);
    enable(cupti::graph_kernels);
    enable(cupti::capture_begins);
    enable(cupti::capture_ends);
    if (code != CUPTI_SUCCESS) why = "CUPTI gives no callbacks: " + cupti::name_of(api_, code);
    return code == CUPTI_SUCCESS;
}

void Counting::start() noexcept {
    if (settings_.folder.empty() || pid_ != 0) return;
    try {
        pid_ = getpid();
        std::string why;
        const bool prepared = prepare(why);
        const std::string file = settings_.folder + "/" + file_name();
        if (writer_.open(file.c_str(), header_of(settings_, &api_), settings_.limit_bytes) != 0) {
            over_ = true;
            return;
        }
        if (!prepared) {
            over_ = true;
            writer_.problem(why);
            writer_.end("not started");
            return;
        }
        std::atexit([] { running->end(); });
    } catch (...) {
        over_ = true;
        writer_.problem("memory ran out while counting was started");
    }
}

// Nothing may be thrown through the driver's frames.
void CUPTIAPI Counting::callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                 const void* data) noexcept {
    auto& own = *static_cast<Counting*>(self);
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API || data == nullptr || inside) return;
    // Before start() has opened the recording, or in a child after fork, there is none.
    if (!own.writer_.is_open()) return;
    // A call that holds the lock is brought to its end.
    if (own.over_ && !counting_launch && !beginning_capture) return;
    inside = true;
    try {
        own.on_call(id, *static_cast<const CUpti_CallbackData*>(data));
    } catch (...) {
        // Without an end the recording is incomplete.
        own.over_ = true;
        if (counting_launch) {
            counting_launch = false;
            own.launches_->give_up();
            own.mutex_.unlock();
        }
        if (std::exchange(beginning_capture, false)) own.mutex_.unlock();
    }
    inside = false;
}

void Counting::on_call(CUpti_CallbackId id, const CUpti_CallbackData& data) {
    const bool entry = data.callbackSite == CUPTI_API_ENTER;
    if (counting_launch) {
        if (entry || !cupti::contains(cupti::kernel_launches, id)) return;
        launches_->on_exit(data);
        counting_launch = false;
        mutex_.unlock();
        return;
    }
    if (!entry) {
        const bool succeeded =
            data.functionReturnValue != nullptr &&
            *static_cast<const CUresult*>(data.functionReturnValue) == CUDA_SUCCESS;
        captures_.on_call(id, succeeded);
        if (cupti::contains(cupti::capture_begins, id) && std::exchange(beginning_capture, false)) {
            mutex_.unlock();
        }
        return;
    }
    if (beginning_capture || cupti::contains(cupti::capture_ends, id)) return;
    std::unique_lock lock(mutex_, patience);
    if (!lock.owns_lock()) {
        // The other launch may wait for this one. What it counts is not its own alone.
        over_ = true;
        writer_.problem("a launch waited for " + std::to_string(patience.count()) +
                        " s for a counted one, which took longer or waits for it");
        return;
    }
    // While it waited, the program may have begun to end.
    if (over_) return;
    if (cupti::contains(cupti::capture_begins, id)) {
        beginning_capture = true;
        lock.release();
        return;
    }
    if (cupti::contains(cupti::graph_launches, id)) return;
    if (cupti::contains(cupti::graph_kernels, id)) return launches_->on_graph_node(id, data);
    if (launches_->on_entry(id, data)) {
        counting_launch = true;
        lock.release();
    }
}

void Counting::end() noexcept {
    if (pid_ != getpid() || over_) return;
    try {
        const std::unique_lock lock(mutex_, std::chrono::seconds(5));
        // A launch is being counted: the recording stays without an end.
        if (!lock.owns_lock() || over_.exchange(true)) return;
        if (launches_->flush()) writer_.end("exit");
    } catch (...) {
        // Without an end the recording is incomplete.
    }
}

void Counting::on_fork() noexcept {
    // The child has none of the parent's threads, and any locks they held stay locked.
    ranges_.after_fork();
    // Before start() there is no recording yet: the child has its own.
    if (pid_ == 0) return;
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
