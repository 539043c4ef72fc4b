// SPDX-License-Identifier: Apache-2.0
#include "inject/recorder.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "activity/writer.hpp"
#include "cupti/api.hpp"
#include "inject/callbacks.hpp"
#include "inject/code_sampler.hpp"
#include "inject/decode.hpp"
#include "inject/device_sampler.hpp"
#include "inject/launch_names.hpp"
#include "inject/nvtx_payloads.hpp"
#include "inject/process.hpp"
#include "inject/settings.hpp"
#include "stacks/sampler.hpp"

namespace perfgate::inject {

namespace {

/// While a thread loads CUPTI: its subscription may initialise the driver, which then calls
/// InitializeInjection from within. That call must not wait for CUPTI to be loaded.
class Loading {
  public:
    Loading() { underway = true; }
    ~Loading() { underway = false; }
    Loading& operator=(Loading&&) = delete;  // nor copied

    /// Whether this thread loads CUPTI, so that recording is to start afterwards.
    static bool postpones_start() {
        postponed = postponed || underway;
        return underway;
    }
    /// Whether a start was postponed; asked once.
    static bool postponed_start() { return std::exchange(postponed, false); }

  private:
    static inline thread_local bool underway = false;
    static inline thread_local bool postponed = false;
};

constexpr std::size_t buffer_bytes = std::size_t{8} << 20;
constexpr std::size_t spare_buffers = 4;
/// CUPTI uses at most this much of the program's memory; beyond that it drops and counts records.
constexpr int buffers_at_most = 64;
/// How long the process waits at its end for a flush in progress.
constexpr std::chrono::seconds flush_patience{5};

constexpr std::array record_kinds{
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_DEVICE,
    CUPTI_ACTIVITY_KIND_CONTEXT,
    CUPTI_ACTIVITY_KIND_OVERHEAD,
};
constexpr std::array api_kinds{
    CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
    CUPTI_ACTIVITY_KIND_MEMORY2,
};

constexpr std::array ending_signals{SIGTERM, SIGINT, SIGHUP};

class Recorder {
  public:
    void start() noexcept;
    int serve_nvtx(void* export_table) noexcept;
    [[nodiscard]] bool takes_payloads() const noexcept {
        return !settings_.folder.empty() && settings_.level != Level::ranges &&
               settings_.level != Level::counters && settings_.level != Level::code;
    }

    void on_fork() noexcept;
    void on_exit() noexcept;
    void on_signal(int signal) noexcept;
    void request_buffer(std::uint8_t** buffer, std::size_t* bytes) noexcept;
    void complete_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                         std::size_t valid_bytes) noexcept;
    void run_flushes() noexcept;

  private:
    /// Whether this is a child after fork, in which locks may stay locked.
    [[nodiscard]] bool in_child() const { return pid_ != 0 && pid_ != getpid(); }
    bool load(std::string& why);
    void subscribe();
    bool register_buffers(std::string& why);
    void note_refusal(CUptiResult code, const char* function);
    void enable_kinds();
    void enable_api_calls();
    void start_thread();
    void start_sampler();
    void catch_signals();
    void flush(std::uint32_t flag);
    void finish(std::string_view how);
    void problem(const std::string& text);
    [[nodiscard]] activity::Writer::Header header() const;
    [[nodiscard]] activity::Counts counts() const;

    Settings settings_ = settings_from_environment();
    cupti::Api api_;
    std::once_flag loaded_;
    bool usable_ = false;  ///< CUPTI is loaded and takes buffers
    std::string unusable_;
    bool subscribed_ = false;
    std::string not_subscribed_;                          ///< why
    std::atomic<const char*> refused_function_{nullptr};  ///< the first one
    std::atomic<CUptiResult> refusal_{CUPTI_SUCCESS};

    activity::Writer writer_;
    Losses losses_;
    LaunchNames launch_names_;
    std::unique_ptr<Decoder> decoder_;
    std::unique_ptr<Callbacks> callbacks_;
    std::unique_ptr<stacks::Sampler> stack_sampler_;
    std::unique_ptr<DeviceSampler> sampler_;     ///< at level `samples`
    std::unique_ptr<CodeSampler> code_sampler_;  ///< at level `code`
    std::atomic<std::uint64_t> dropped_{0}, refused_{0}, over_limit_{0};

    std::atomic<pid_t> pid_{0};  ///< of the process that records; 0: none does
    std::timed_mutex flush_mutex_;
    std::mutex spare_mutex_;
    std::vector<std::uint8_t*> spare_;
    std::atomic<int> buffers_{0};
    std::array<int, 2> wake_{-1, -1};  ///< a pipe with the signals received
    std::atomic<bool> ending_{false};
};

/// Never destroyed: CUPTI's threads may call until the process ends. Null if memory ran out before
/// anything was recorded.
Recorder* recorder() noexcept {
    static Recorder* const instance = []() noexcept -> Recorder* {
        try {
            return new Recorder;
        } catch (...) {
            return nullptr;
        }
    }();
    return instance;
}

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* bytes,
                               std::size_t* max_records) noexcept {
    *max_records = 0;  // as many as fit
    recorder()->request_buffer(buffer, bytes);
}

void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                               std::size_t, std::size_t valid_bytes) noexcept {
    recorder()->complete_buffer(context, stream, buffer, valid_bytes);
}

void Recorder::request_buffer(std::uint8_t** buffer, std::size_t* bytes) noexcept {
    *buffer = nullptr;
    *bytes = 0;
    if (in_child()) return;
    {
        const std::lock_guard lock(spare_mutex_);
        if (!spare_.empty()) {
            *buffer = spare_.back();
            spare_.pop_back();
        }
    }
    if (*buffer == nullptr && buffers_ < buffers_at_most) {
        *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(4096, buffer_bytes));
        if (*buffer != nullptr) ++buffers_;
    }
    if (*buffer != nullptr) {
        *bytes = buffer_bytes;
    } else {
        ++refused_;
    }
}

void Recorder::complete_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                               std::size_t valid_bytes) noexcept {
    if (buffer == nullptr) return;
    if (in_child()) return std::free(buffer);
    // There is no file before CUDA is used; until then ranges stay in CUPTI's buffers, and those of
    // a program that never uses CUDA are discarded here.
    if (pid_ != 0 && decoder_ != nullptr && valid_bytes != 0) {
        try {
            activity::Records records;
            decoder_->decode(buffer, valid_bytes, records);
            std::uint64_t count = 0;
            activity::for_each_kind(records, [&](auto, const auto& all) { count += all.size(); });
            if (!writer_.append(records)) over_limit_ += count;
        } catch (...) {
            ++losses_.unread;
        }
    }
    std::size_t dropped = 0;
    const CUptiResult code = api_.cuptiActivityGetNumDroppedRecords(context, stream, &dropped);
    note_refusal(code, "cuptiActivityGetNumDroppedRecords");
    if (code == CUPTI_SUCCESS) dropped_ += dropped;
    {
        const std::lock_guard lock(spare_mutex_);
        if (spare_.size() < spare_buffers && spare_.capacity() > spare_.size()) {
            spare_.push_back(buffer);
            return;
        }
    }
    std::free(buffer);
    --buffers_;
}

bool Recorder::load(std::string& why) {
    std::call_once(loaded_, [&] {
        const Loading loading;
        if (!cupti::load(settings_.cupti, api_, unusable_)) return;
        if (settings_.level == Level::samples) {
            if (!cupti::load_sampling(api_, unusable_)) return;
            sampler_ = std::make_unique<DeviceSampler>(api_, writer_);
        }
        if (settings_.level == Level::code) {
            if (!cupti::load_counters(api_, unusable_)) return;
            code_sampler_ = std::make_unique<CodeSampler>(api_, writer_, settings_.functions);
        }
        callbacks_ = std::make_unique<Callbacks>(
            api_, writer_, launch_names_, sampler_.get(), code_sampler_.get(), [this] {
                const std::unique_lock lock(flush_mutex_, std::try_to_lock);
                if (lock.owns_lock() && !ending_) flush(0);
            });
        if (api_.subscribes_first()) subscribe();
        usable_ = register_buffers(unusable_);
    });
    why = unusable_;
    return usable_;
}

void Recorder::subscribe() {
    not_subscribed_.clear();
    subscribed_ = callbacks_->subscribe(not_subscribed_);
}

void Recorder::note_refusal(CUptiResult code, const char* function) {
    if (!cupti::is_refusal(code)) return;
    refusal_ = code;
    const char* none = nullptr;
    refused_function_.compare_exchange_strong(none, function);
}

bool Recorder::register_buffers(std::string& why) {
    spare_.reserve(spare_buffers);
    decoder_ = std::make_unique<Decoder>(api_, writer_, launch_names_, losses_,
                                         settings_.level == Level::api);
    // Thread ids of the operating system, which the launch callbacks and other tools also use.
    note_refusal(api_.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM),
                 "cuptiSetThreadIdType");
    CUptiResult code = api_.cuptiActivityRegisterCallbacks(&buffer_requested, &buffer_completed);
    if (code == CUPTI_SUCCESS && settings_.level != Level::code) {
        code = api_.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MARKER);
    }
    if (code != CUPTI_SUCCESS) why = "CUPTI cannot record: " + cupti::name_of(api_, code);
    return code == CUPTI_SUCCESS;
}

activity::Writer::Header Recorder::header() const {
    activity::Writer::Header header = header_of(settings_, &api_);
    header.emplace_back("code", settings_.code ? "1" : "0");
    if (settings_.waits) header.emplace_back("waits", "1");
    return header;
}

void Recorder::problem(const std::string& text) {
    writer_.problem(text);
}

void Recorder::enable_kinds() {
    const auto enable = [&](CUpti_ActivityKind kind) {
        const CUptiResult code = api_.cuptiActivityEnable(kind);
        if (code != CUPTI_SUCCESS) {
            problem("CUPTI cannot record activity of kind " +
                    std::to_string(static_cast<int>(kind)) + ": " + cupti::name_of(api_, code));
        }
    };
    if (settings_.level == Level::code) return;
    for (const CUpti_ActivityKind kind : record_kinds) enable(kind);
    if (settings_.level != Level::api && !settings_.waits) return;
    for (const CUpti_ActivityKind kind : api_kinds) enable(kind);
    enable_api_calls();
}

void Recorder::enable_api_calls() {
    const auto enable = [&](CUpti_CallbackDomain domain, CUpti_CallbackId count, auto enable_one,
                            CUpti_ActivityKind all) {
        bool any = false;
        if (enable_one == nullptr) count = 0;  // before 12.5: the decoder chooses
        for (CUpti_CallbackId id = 1; id < count; ++id) {
            const char* name = nullptr;
            if (api_.cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS || name == nullptr) {
                continue;
            }
            if (!is_recorded(name, settings_.level == Level::api)) continue;
            any = enable_one(id, std::uint8_t{1}) == CUPTI_SUCCESS || any;
        }
        if (any) return;
        if (const CUptiResult code = api_.cuptiActivityEnable(all); code != CUPTI_SUCCESS) {
            problem("CUPTI cannot record API calls: " + cupti::name_of(api_, code));
        }
    };
    enable(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_SIZE,
           api_.cuptiActivityEnableDriverApi, CUPTI_ACTIVITY_KIND_DRIVER);
    enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE,
           api_.cuptiActivityEnableRuntimeApi, CUPTI_ACTIVITY_KIND_RUNTIME);
}

void Recorder::start() noexcept {
    if (Loading::postpones_start()) return;
    if (settings_.folder.empty() || settings_.level == Level::ranges || pid_ != 0) return;
    if (settings_.level == Level::counters) return start_counting(settings_);
    try {
        std::string why;
        const bool usable = load(why);
        const std::string file = settings_.folder + "/" + file_name();
        if (writer_.open(file.c_str(), header(), settings_.limit_bytes) != 0) return;
        pid_ = getpid();
        if (code_sampler_ != nullptr) code_sampler_->keep_beside(file);
        // Before the kinds are enabled, so that no launch is missed in between.
        if (usable && !subscribed_) subscribe();
        if (usable && subscribed_) subscribed_ = callbacks_->enable(settings_, not_subscribed_);
        if (!not_subscribed_.empty() && (watches_launches(settings_.level) || settings_.code)) {
            problem("CUPTI gives no callbacks (" + not_subscribed_ +
                    "): run without other profilers, or record without callbacks and code");
        }
        if (!usable) {
            problem(why);
            writer_.end("not started");
            return;
        }
        enable_kinds();
        pthread_atfork(nullptr, nullptr, [] { recorder()->on_fork(); });
        std::atexit([] { recorder()->on_exit(); });
        if (settings_.stacks_us != 0) start_sampler();
        start_thread();
    } catch (...) {
        writer_.problem("memory ran out while recording was started");
    }
}

int Recorder::serve_nvtx(void* export_table) noexcept {
    if (settings_.folder.empty()) return 0;
    if (settings_.level == Level::ranges) {
        return record_ranges(reinterpret_cast<NvtxGetExportTableFunc_t>(export_table), settings_);
    }
    if (settings_.level == Level::code) return 0;
    if (settings_.level == Level::counters) {
        return watch_ranges(reinterpret_cast<NvtxGetExportTableFunc_t>(export_table), settings_);
    }
    try {
        std::string why;
        const bool usable = load(why);
        if (Loading::postponed_start()) start();
        if (!usable) return 0;
        using Initialise = int (*)(void*);
        const auto initialise =
            reinterpret_cast<Initialise>(dlsym(api_.library, "InitializeInjectionNvtx2"));
        if (initialise == nullptr || initialise(export_table) == 0) return 0;
        watch_payloads(reinterpret_cast<NvtxGetExportTableFunc_t>(export_table), api_);
        return 1;
    } catch (...) {
        return 0;
    }
}

activity::Counts Recorder::counts() const {
    activity::Counts counts;
    if (callbacks_ != nullptr) {
        const LaunchCounts& launches = callbacks_->launches();
        counts.kernel_launches = launches.kernels;
        counts.captured_launches = launches.captured;
        counts.graph_launches = launches.graphs;
        counts.failed_launches = launches.failed;
        counts.unreadable_modules = callbacks_->unreadable_modules();
        counts.counted_with_callbacks = watches_launches(settings_.level) ? 1 : 0;
    }
    counts.dropped_records = dropped_;
    counts.without_time = losses_.without_time;
    counts.reversed_time = losses_.reversed_time;
    counts.unread_records = losses_.unread;
    counts.over_limit_records = over_limit_;
    counts.refused_buffers = refused_;
    return counts;
}

/// Fetches the records from CUPTI. The caller holds flush_mutex_ and no other lock of ours, because
/// CUPTI calls back from here.
void Recorder::flush(std::uint32_t flag) {
    note_refusal(api_.cuptiActivityFlushAll(flag), "cuptiActivityFlushAll");
    activity::Records records;
    take_payloads(records);
    records.launch_calls = callbacks_->take_launch_calls();
    note_refusal(read_clocks(api_, records.clocks.emplace_back()), "cuptiGetTimestamp");
    if (stack_sampler_ != nullptr) stack_sampler_->take(writer_, records);
    writer_.append(records);
    writer_.append(counts());
}

void Recorder::finish(std::string_view how) {
    const std::unique_lock lock(flush_mutex_, flush_patience);
    if (!lock.owns_lock() || ending_.exchange(true)) return;
    // Launches that other threads make from here on are not in the records either.
    const activity::Counts launched = counts();
    if (stack_sampler_ != nullptr) stack_sampler_->stop();
    flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    if (sampler_ != nullptr) sampler_->finish();  // may take seconds
    if (code_sampler_ != nullptr) code_sampler_->finish();
    activity::Counts last = counts();
    last.kernel_launches = launched.kernel_launches;
    last.captured_launches = launched.captured_launches;
    last.graph_launches = launched.graph_launches;
    last.failed_launches = launched.failed_launches;
    writer_.append(last);
    if (const char* function = refused_function_; function != nullptr) {
        problem(std::string("CUPTI refuses ") + function + ": " + cupti::name_of(api_, refusal_) +
                ", so that records may be missing: run without other profilers");
    }
    if (const std::string doubt = launch_names_.doubt(); !doubt.empty()) problem(doubt);
    writer_.end(how);
}

void Recorder::on_exit() noexcept {
    if (pid_ != getpid()) return;
    try {
        finish("exit");
    } catch (...) {
        // A recording without an end record is incomplete.
    }
}

void Recorder::on_fork() noexcept {
    // The child has none of the parent's threads, and any locks they held stay locked.
    pid_ = -1;
    ending_ = true;
    writer_.abandon();
    abandon_payloads();
    if (callbacks_ != nullptr) callbacks_->abandon();
    for (int& end : wake_) {
        if (end >= 0) ::close(end);
        end = -1;
    }
}

void Recorder::on_signal(int signal) noexcept {
    const int error = errno;
    static std::atomic<bool> came{false};
    const auto byte = static_cast<char>(signal);
    if (pid_ != getpid() || came.exchange(true) || ::write(wake_[1], &byte, 1) != 1) {
        ::signal(signal, SIG_DFL);
        ::raise(signal);
    }
    errno = error;
}

void Recorder::catch_signals() {
    for (const int signal : ending_signals) {
        struct sigaction current {};
        // If the program has a handler or ignores the signal, this is not changed.
        if (sigaction(signal, nullptr, &current) != 0 || current.sa_handler != SIG_DFL) continue;
        struct sigaction own {};
        own.sa_handler = [](int number) { recorder()->on_signal(number); };
        own.sa_flags = SA_RESTART;
        sigemptyset(&own.sa_mask);
        sigaction(signal, &own, nullptr);
    }
}

void Recorder::start_thread() {
    if (pipe2(wake_.data(), O_CLOEXEC) != 0) wake_ = {-1, -1};
    const auto run = [](void*) -> void* {
        recorder()->run_flushes();
        return nullptr;
    };
    if (stacks::start_background_thread(run, nullptr)) {
        catch_signals();
    } else {
        problem("nothing is flushed before the program ends: no thread could be made");
    }
}

void Recorder::start_sampler() try {
    stack_sampler_ =
        std::make_unique<stacks::Sampler>(std::chrono::microseconds(settings_.stacks_us), [this] {
            std::uint64_t time = 0;
            return api_.cuptiGetTimestamp(&time) == CUPTI_SUCCESS ? time : now(CLOCK_REALTIME);
        });
    stack_sampler_->start();
} catch (...) {
    writer_.problem("no stacks were sampled: memory ran out");
}

void Recorder::run_flushes() noexcept {
    pthread_setname_np(pthread_self(), "perfgate");
    const auto flush_ms = static_cast<int>(settings_.flush_ms);
    const int step_ms = sampler_ == nullptr ? flush_ms : DeviceSampler::step_ms;
    // A step may take long.
    auto flushed = std::chrono::steady_clock::now();
    while (!ending_) {
        pollfd wake{wake_[0], POLLIN, 0};
        const int ready = ::poll(&wake, 1, step_ms);
        try {
            if (ready > 0) {
                char signal = 0;
                if (::read(wake_[0], &signal, 1) != 1) continue;
                finish("signal " + std::to_string(static_cast<int>(signal)));
                ::signal(signal, SIG_DFL);
                ::kill(getpid(), signal);
                return;
            }
            const auto now = std::chrono::steady_clock::now();
            if (now - flushed >= std::chrono::milliseconds(flush_ms)) {
                flushed = now;
                const std::unique_lock lock(flush_mutex_, std::try_to_lock);
                if (lock.owns_lock() && !ending_) flush(0);
            }
            if (sampler_ != nullptr) sampler_->step();
        } catch (...) {
            ++losses_.unread;
        }
    }
}

}  // namespace

}  // namespace perfgate::inject

// The functions that the driver and NVTX look up in the injection library.
#define PERFGATE_EXPORT extern "C" __attribute__((visibility("default")))

/// Called by cuInit if CUDA_INJECTION64_PATH names this library.
PERFGATE_EXPORT int InitializeInjection() noexcept {
    auto* recorder = perfgate::inject::recorder();
    if (recorder != nullptr) recorder->start();
    return 1;
}

/// Called by NVTX 3 at the first call of each of its copies in the program, if
/// NVTX_INJECTION64_PATH names this library: connects NVTX to CUPTI, which keeps ranges that are
/// opened before CUDA is used. Nonzero on success.
PERFGATE_EXPORT int InitializeInjectionNvtx2(void* export_table) noexcept {
    auto* recorder = perfgate::inject::recorder();
    return recorder == nullptr ? 0 : recorder->serve_nvtx(export_table);
}

/// Called by the payload extension of NVTX 3 in the same way: its schemas tell what NCCL's payloads
/// contain. Nonzero on success.
PERFGATE_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) noexcept {
    const auto* recorder = perfgate::inject::recorder();
    if (recorder == nullptr || !recorder->takes_payloads()) return 0;
    return perfgate::inject::watch_schemas(module);
}
