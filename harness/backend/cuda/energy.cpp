// SPDX-License-Identifier: Apache-2.0
// Energy of a launch, from NVML's energy counter over a loop of launches without rests. A thread
// polls the counter, which changes every 20 to 100 ms, while another keeps the stream full.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "backend/cuda/driver.hpp"
#include "backend/cuda/environment.hpp"
#include "backend/cuda/nvtx.hpp"
#include "backend/cuda/readings.hpp"
#include "model/energy_counter.hpp"

namespace perfgate::backend::cuda {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// Power follows the load, and the clock the power, within this time.
constexpr Seconds settle{0.5};
constexpr model::EnergyGoal usual_goal{};
/// A counter that has not reached the goal by then will not.
constexpr Seconds longest{10};
constexpr std::chrono::microseconds between_readings{200};
/// Work between two events; two of them wait in the stream while a third is submitted.
constexpr Seconds chunk_length{0.0005};
constexpr int most_per_chunk = 256;
constexpr std::size_t chunks_in_flight = 3;

double seconds(Clock::time_point time) {
    return Seconds(time.time_since_epoch()).count();
}

/// Reads the counter in a thread of its own until the readings reach the goal.
class Poller {
  public:
    explicit Poller(const Nvml& nvml) : nvml_(nvml), thread_([this] { poll(); }) {}
    ~Poller() {
        stop_ = true;
        thread_.join();
    }
    Poller& operator=(Poller&&) = delete;  // nor copied

    struct State {
        bool begun = false, done = false;
        std::optional<model::EnergySpan> span;
        std::string problem;
    };
    State state() const {
        const std::lock_guard lock(mutex_);
        return {counter_.begun(), done_, counter_.span(),
                problem_.empty() ? counter_.problem() : problem_};
    }

  private:
    void poll() {
        while (!stop_) {
            const auto before = Clock::now();
            std::string why;
            const std::optional<std::uint64_t> value = nvml_.energy_mj(&why);
            const auto after = Clock::now();
            {
                const std::lock_guard lock(mutex_);
                if (!value) {
                    problem_ = std::move(why);
                    return;
                }
                counter_.add({seconds(before), seconds(after), *value});
                const auto span = counter_.span();
                done_ = span && reaches(*span, usual_goal);
                if (done_ || !counter_.problem().empty()) return;
            }
            std::this_thread::sleep_for(between_readings);
        }
    }

    const Nvml& nvml_;
    mutable std::mutex mutex_;
    model::EnergyCounter counter_;
    std::string problem_;
    bool done_ = false;
    std::atomic<bool> stop_ = false;
    std::thread thread_;  ///< last: it uses the others
};

/// Launches in chunks, each followed by an event.
class Loop {
  public:
    explicit Loop(const ReadingContext& context)
        : case_(*context.opened),
          stream_(context.device.stream()),
          resets_(context.opened->needs_reset()) {
        launch(1);
        check(driver().cuStreamSynchronize(stream_), "cannot wait for a launch");
        constexpr int trial = 4;
        const auto start = Clock::now();
        launch(trial);
        check(driver().cuStreamSynchronize(stream_), "cannot wait for a launch");
        const double each_s = Seconds(Clock::now() - start).count() / trial;
        per_chunk_ = std::clamp(static_cast<int>(chunk_length.count() / each_s), 1, most_per_chunk);
    }

    /// Submits a chunk and waits until the one before the last has ended.
    void step() {
        launch(per_chunk_);
        launches_ += static_cast<std::uint64_t>(per_chunk_);
        pending_[chunks_ % chunks_in_flight].record(stream_);
        ++chunks_;
        if (chunks_ >= chunks_in_flight) pending_[chunks_ % chunks_in_flight].synchronize();
    }

    /// Marks this place in the stream.
    void mark(const Event& event, std::uint64_t& launches) const {
        event.record(stream_);
        launches = launches_;
    }

  private:
    void launch(int count) const {
        for (int i = 0; i < count; ++i) {
            if (resets_) case_.enqueue_reset();
            case_.enqueue_timed(stream_);
        }
    }

    CudaCase& case_;
    CUstream stream_;
    bool resets_;
    int per_chunk_ = 1;
    std::uint64_t launches_ = 0;
    std::size_t chunks_ = 0;
    std::array<Event, chunks_in_flight> pending_;
};

std::string why_not_reached(const Poller::State& state) {
    if (!state.span) {
        return fmt::format(
            "NVML's energy counter did not change twice within {:.0f} s: leave the metric out on "
            "this device",
            longest.count());
    }
    return fmt::format(
        "NVML's energy counter is too coarse: {} within {:.0f} s; leave the metric out on this "
        "device",
        in_words(*state.span), longest.count());
}

/// Leaves the stream empty. Throws CudaError if the work fails; what NVML lacks is the problem.
void measure_energy(const ReadingContext& context, measure::Reading& reading) {
    const Nvml& nvml = *context.board.nvml;
    // A device without the counter should not cost a loop.
    if (!nvml.energy_mj(&reading.problem)) return;
    reading.problem.clear();
    Loop loop(context);
    for (const auto start = Clock::now(); Clock::now() - start < settle;) loop.step();

    const Event begin, end;
    std::uint64_t launches_before = 0, launches_after = 0;
    Poller::State state;
    bool marked = false;
    {
        const Poller poller(nvml);
        for (const auto start = Clock::now(); Clock::now() - start < longest; loop.step()) {
            state = poller.state();
            if (state.done || !state.problem.empty()) break;
            if (state.begun && !marked) {
                loop.mark(begin, launches_before);
                marked = true;
            }
        }
        loop.mark(end, launches_after);
    }
    // Under load, which reading takes longer than what the stream holds.
    auto board = std::async(std::launch::async, [&] { return read_board(&nvml); });
    while (board.wait_for(Seconds(0)) != std::future_status::ready) loop.step();
    reading.board = board.get();
    check(driver().cuStreamSynchronize(context.device.stream()),
          "cannot wait for the loop of launches");

    if (!state.problem.empty() || !state.done) {
        reading.problem = state.problem.empty() ? why_not_reached(state) : state.problem;
        return;
    }
    // The marks are where this thread noticed what the other one had seen.
    if (!marked || launches_after == launches_before) {
        reading.problem = "a launch takes longer than the loop: leave the metric out for this case";
        return;
    }
    const double launches = static_cast<double>(launches_after - launches_before);
    const double launch_s = elapsed_ns(begin, end) * 1e-9 / launches;
    const double watts = state.span->watts();
    reading.values["power"].value = watts;
    reading.values["energy"].value = watts * launch_s;
    reading.note = fmt::format("{:.0f} launches in {:.2f} s, {}; ", launches, state.span->seconds,
                               in_words(*state.span));
    reading.note +=
        context.board.idle_w
            ? fmt::format("{:.0f} W before the first launch of the process, not subtracted",
                          *context.board.idle_w)
            : "idle power unknown";
}

}  // namespace

measure::Reading read_energy(const ReadingContext& context) {
    measure::Reading reading;
    if (context.board.nvml == nullptr) {
        reading.problem = context.board.problem;
    } else if (context.device.facts().mig) {
        reading.problem =
            "a MIG instance has no energy counter: leave the metric out on this device";
    } else {
        guarded(context.device.context(), [&] {
            const NvtxRange range("energy");
            measure_energy(context, reading);
            reading.method = {"nvml-counter",
                              context.opened->needs_reset() ? "back-to-back/reset" : "back-to-back",
                              model::Cache::hot};
        });
    }
    return reading;
}

}  // namespace perfgate::backend::cuda
