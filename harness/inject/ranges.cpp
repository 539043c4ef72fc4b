// SPDX-License-Identifier: Apache-2.0
#include "inject/recorder.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "activity/writer.hpp"
#include "inject/nvtx_hooks.hpp"
#include "inject/process.hpp"
#include "inject/settings.hpp"

namespace perfgate::inject {
namespace {

using activity::Marker;
using activity::MarkerKind;
using activity::StringId;

constexpr std::size_t markers_at_most = 16384;
thread_local std::uint32_t own_thread = 0;

/// The ranges of this process.
class Ranges final : public RangeSink {
  public:
    bool open(const Settings& settings) noexcept {
        std::call_once(opened_, [&] {
            try {
                path_ = settings.folder + "/" + file_name();
                if (writer_.open(path_.c_str(), header_of(settings, nullptr),
                                 settings.limit_bytes) != 0) {
                    return;
                }
                recording_ = true;
                pthread_atfork(nullptr, nullptr, [] { instance().abandon(); });
                std::atexit([] { instance().finish(); });
            } catch (...) {
                recording_ = false;
            }
        });
        return recording_;
    }

    [[nodiscard]] bool recording() const noexcept override { return recording_; }
    StringId text(std::string_view text) noexcept override { return writer_.string(text); }

    std::uint32_t begin(StringId domain, StringId name) noexcept override {
        std::uint32_t id = next_.fetch_add(1);
        if (id == 0) id = next_.fetch_add(1);  // 0 is not a range id in NVTX
        add({now(CLOCK_MONOTONIC), id, MarkerKind::begin, name, domain, 0, 0});
        return id;
    }

    void end(std::uint32_t id) noexcept override {
        add({now(CLOCK_MONOTONIC), id, MarkerKind::end, 0, 0, 0, 0});
    }

    static Ranges& instance() {
        static auto* ranges = new Ranges;  // ranges may end after all destructors
        return *ranges;
    }

  private:
    void add(Marker marker) noexcept {
        if (!recording_) return;
        if (own_thread == 0) own_thread = static_cast<std::uint32_t>(gettid());
        marker.thread = own_thread;
        activity::Records full;
        try {
            const std::lock_guard lock(mutex_);
            markers_.push_back(marker);
            if (markers_.size() < markers_at_most) return;
            full.markers = std::exchange(markers_, {});
        } catch (...) {
            recording_ = false;  // memory ran out: without an end the recording is incomplete
            return;
        }
        writer_.append(full);
    }

    void finish() noexcept {
        if (!recording_.exchange(false)) return;
        // A process that never uses CUDA, such as a launcher, has no other recording either.
        if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) == nullptr) {
            writer_.abandon();
            ::unlink(path_.c_str());
            return;
        }
        activity::Records rest;
        {
            const std::lock_guard lock(mutex_);
            rest.markers = std::exchange(markers_, {});
        }
        writer_.append(rest);
        writer_.end("exit");
    }

    /// After fork, in the child: other threads may have held the locks.
    void abandon() noexcept {
        recording_ = false;
        writer_.abandon();
    }

    std::once_flag opened_;
    std::string path_;
    activity::Writer writer_;
    std::atomic<bool> recording_{false};
    std::atomic<std::uint32_t> next_{1};
    std::mutex mutex_;
    std::vector<Marker> markers_;
};

}  // namespace

int record_ranges(NvtxGetExportTableFunc_t export_table, const Settings& settings) noexcept {
    Ranges& ranges = Ranges::instance();
    return ranges.open(settings) ? take_ranges(export_table, ranges) : 0;
}

}  // namespace perfgate::inject
