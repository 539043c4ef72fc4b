// SPDX-License-Identifier: Apache-2.0
#include "stacks/sampler.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <utility>

namespace perfgate::stacks {
namespace {

using activity::HostSample;
using activity::HostState;

/// The sampler keeps no more threads, processes and frames.
constexpr std::size_t most_threads = 1024, most_processes = 64, most_frames = std::size_t{1} << 18;
/// It keeps no more samples that nobody takes.
constexpr std::size_t most_samples = std::size_t{1} << 20;
/// Listing threads, and the children of each, costs more than a look: each so many looks.
constexpr std::uint64_t looks_between_lists = 16, looks_between_children = 64;
/// Threads other than the main one that stay blocked are looked at less often, by an eighth of the
/// time that they have been, down to each so many looks.
constexpr std::uint64_t most_skipped = 16;
/// A look later than this many intervals says nothing of the time before.
constexpr std::uint64_t late_intervals = 5;
/// Looks that take long come less often: so many times what one takes, but not less than
/// one in so many intervals.
constexpr int least_pauses_of_look = 100, most_intervals = 16;
constexpr std::chrono::milliseconds patience{500};
/// Functions of machine code are numbered from here.
constexpr std::uint32_t first_native = 1U << 31;

std::uint64_t time_of(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec);
}

/// Gives the calling thread descriptors of its own, and none of the program's: closing or counting
/// those must not meet the sampler's, and a pipe's end must not stay open here.
bool leave_descriptors() {
#ifdef SYS_close_range
    constexpr unsigned int unshare_first = 2;  // CLOSE_RANGE_UNSHARE
    if (::syscall(SYS_close_range, 0U, ~0U, unshare_first) == 0) return true;
#endif
    if (::unshare(CLONE_FILES) != 0) return false;
    for (int i = 0; i < static_cast<int>(::sysconf(_SC_OPEN_MAX)) && i < 65536; ++i) ::close(i);
    return true;
}

}  // namespace

struct Sampler::Thread {
    Thread(pid_t process, pid_t number)
        : id(number), state(process, number), memory(Memory(process)) {}

    pid_t id;
    ThreadState state;
    RepeatedReads memory;  ///< of its stack
    Interruptions interruptions;
    bool asked = false;  ///< for them
    Address frame = 0;   ///< of Python, at this look
    bool seen = true;    ///< when threads were listed last
    bool ended = false;
    bool has_sample = false;
    HostSample sample;
    std::string name;
    std::uint64_t looked_ns = 0, next_look = 0, unchanged = 0;
};

struct Sampler::Process {
    explicit Process(pid_t number) : id(number), memory(Memory(number)), places(number) {}

    pid_t id;
    RepeatedReads memory;  ///< of its interpreter's threads
    Native::Places places;
    std::optional<Address> python;  ///< its distance; nothing: there is no interpreter
    /// How often it is looked for: a process is seen before it runs another program, and before
    /// that has loaded its interpreter.
    int python_searches = 16;
    std::map<pid_t, Thread> threads;
};

std::size_t Sampler::FrameHash::operator()(const Frame& frame) const {
    std::uint64_t mixed = frame.caller;
    for (const std::uint32_t next : {frame.at.function, frame.at.line}) {
        mixed = (mixed ^ next) * 0x9e3779b97f4a7c15;
        mixed ^= mixed >> 29;
    }
    return mixed;
}

Sampler::Sampler(std::chrono::nanoseconds interval, std::function<std::uint64_t()> clock)
    : interval_(interval),
      pause_(interval),
      clock_(std::move(clock)),
      python_(Python::find(about_python_)) {
    sampling_.interval_ns = static_cast<std::uint64_t>(interval.count());
    sampling_.start_ns = clock_();
    auto own = std::make_unique<Process>(getpid());
    if (python_) own->python = 0;
    processes_.emplace(getpid(), std::move(own));
}

Sampler::~Sampler() = default;

void Sampler::start() {
    const auto run = [](void* self) -> void* {
        static_cast<Sampler*>(self)->run();
        return nullptr;
    };
    if (!start_background_thread(run, this)) ended_ = "no stacks: no thread could be made";
}

void Sampler::stop() noexcept {
    stopping_ = true;
    wake_.notify_all();
}

void Sampler::run() noexcept {
    pthread_setname_np(pthread_self(), "perfgate stacks");
    const bool own_descriptors = leave_descriptors();
    std::unique_lock lock(mutex_);
    if (!own_descriptors) {
        ended_ = "no stacks: the system gives a thread no descriptors of its own";
        return;
    }
    random_.seed(static_cast<unsigned int>(sampling_.start_ns));
    // Intervals differ, so that a program in step with them is still seen everywhere.
    std::uniform_real_distribution<double> part(0.5, 1.5);
    while (!stopping_) {
        try {
            look();
        } catch (...) {
            ended_ = "no more stacks: memory ran out";  // a string might need some
            return;
        }
        const std::uint64_t before =
            std::exchange(sampling_.cpu_ns, time_of(CLOCK_THREAD_CPUTIME_ID));
        const std::chrono::nanoseconds own(least_pauses_of_look * (sampling_.cpu_ns - before));
        // Functions that are new make single looks long.
        pause_ = std::max(interval_, (7 * pause_ + std::min(own, most_intervals * interval_)) / 8);
        const auto pause =
            std::chrono::duration_cast<std::chrono::nanoseconds>(pause_ * part(random_));
        wake_.wait_for(lock, pause, [&] { return stopping_.load(); });
    }
}

void Sampler::look() {
    const std::uint64_t now = clock_();
    look_monotonic_ns_ = time_of(CLOCK_MONOTONIC);
    const std::uint64_t since = last_look_ns_ == 0 || now < last_look_ns_ ? 0 : now - last_look_ns_;
    const auto interval_ns = static_cast<std::uint64_t>(pause_.count());
    if (since > late_intervals * interval_ns) {
        ++sampling_.late_looks;
        for (auto& [pid, process] : processes_) {
            for (auto& [tid, thread] : process->threads) {
                close(thread, last_look_ns_ + interval_ns);
            }
        }
    }
    const bool list = sampling_.looks % looks_between_lists == 0;
    if (sampling_.looks % looks_between_children == 0) find_children();
    for (auto& [pid, process] : processes_) look_at(*process, now, list);
    std::erase_if(processes_, [own = getpid()](const auto& each) {
        const auto& threads = each.second->threads;
        return each.first != own &&
               std::ranges::all_of(threads, [](const auto& thread) { return thread.second.ended; });
    });
    ++sampling_.looks;
    sampling_.end_ns = now;
    last_look_ns_ = now;
}

void Sampler::find_children() {
    std::vector<pid_t> found;
    for (const auto& [pid, process] : processes_) {
        for (const auto& [tid, thread] : process->threads) {
            for (const pid_t child : children_of(pid, tid)) found.push_back(child);
        }
    }
    for (const pid_t child : found) {
        if (processes_.contains(child) || processes_.size() == most_processes) continue;
        auto process = std::make_unique<Process>(child);
        if (python_) process->python = 0;  // as after fork
        processes_.emplace(child, std::move(process));
    }
}

void Sampler::look_at(Process& process, std::uint64_t now, bool list_threads) {
    const auto listed =
        list_threads || process.threads.empty() ? threads_of(process.id) : std::nullopt;
    if (listed) {
        for (auto& [tid, thread] : process.threads) thread.seen = false;
        for (const pid_t tid : *listed) {
            if (process.threads.size() == most_threads && !process.threads.contains(tid)) continue;
            const auto [known, added] = process.threads.try_emplace(tid, process.id, tid);
            known->second.seen = true;
            // Another thread may have its number by now.
            if (std::exchange(known->second.ended, false)) {
                known->second.state = ThreadState(process.id, tid);
            }
            if (!added && !known->second.name.empty() && sampling_.looks % 64 != 0) continue;
            std::string name = name_of(process.id, tid);
            if (name.starts_with("perfgate") && process.id != getpid()) {
                // It samples itself.
                process.threads.clear();
                return;
            }
            if (name.empty() || name == known->second.name) continue;
            known->second.name = name;
            if (!name.starts_with("perfgate")) {
                new_threads_.emplace_back(
                    activity::HostThread{static_cast<std::uint32_t>(process.id),
                                         static_cast<std::uint32_t>(tid), 0},
                    std::move(name));
            }
        }
    }
    std::vector<Thread*> changed;
    for (auto each = process.threads.begin(); each != process.threads.end();) {
        Thread& thread = each->second;
        const bool own = thread.name.starts_with("perfgate");
        if (!own && !thread.ended && !(thread.seen && look_at(process, thread, now, changed))) {
            close(thread, now);
            thread.ended = true;
            thread.interruptions = Interruptions();
            if (std::exchange(thread.asked, false)) --interrupted_threads_;
        }
        // While it is listed, it is kept, so that it is not taken for a new one.
        each = own || thread.seen ? std::next(each) : process.threads.erase(each);
    }
    if (changed.empty()) return;
    const bool known = find_python_frames(process, list_threads);
    for (Thread* thread : changed) sample(process, *thread, now, known);
}

bool Sampler::look_at(const Process& process, Thread& thread, std::uint64_t now,
                      std::vector<Thread*>& changed) {
    if (thread.id != process.id && thread.next_look > sampling_.looks) return true;
    const bool first = thread.looked_ns == 0;
    if (!thread.state.look(first ? 0 : now - thread.looked_ns)) return false;
    thread.looked_ns = now;
    if (thread.state.unchanged() && thread.has_sample) {
        ++thread.unchanged;
        thread.next_look = sampling_.looks + std::min(most_skipped, thread.unchanged / 8);
        return true;
    }
    thread.unchanged = 0;
    changed.push_back(&thread);
    return true;
}

bool Sampler::find_python_frames(Process& process, bool search) {
    for (auto& [tid, thread] : process.threads) thread.frame = 0;
    if (!process.python) return true;
    process.memory.repeat();
    if (!python_->threads(process.memory, *process.python, python_threads_)) {
        if (!search || process.id == getpid()) return false;
        if (process.python_searches-- == 0) process.python.reset();
        if (process.python) process.python = python_->distance_in(process.id).value_or(0);
        return false;
    }
    for (const Python::Thread& each : python_threads_) {
        auto thread = process.threads.find(static_cast<pid_t>(each.id));
        // After fork the interpreter may keep the parent's number of its only thread.
        if (thread == process.threads.end() && python_threads_.size() == 1) {
            thread = process.threads.find(process.id);
        }
        if (thread != process.threads.end()) thread->second.frame = each.frame;
    }
    return true;
}

std::uint32_t Sampler::native_frame(Process& process, const Registers& registers,
                                    const elf::ModuleMemory& stack) {
    native_.stack(stack, process.places, sampling_.looks, registers, native_stack_);
    stack_.clear();
    for (const std::uint32_t each : native_stack_) stack_.push_back({first_native + each, 0});
    return number_of(stack_);
}

/// Samples of a thread while it ran, each at its own time; false if there are none.
bool Sampler::take_interruptions(Process& process, Thread& thread, std::uint64_t now,
                                 HostState state) {
    bool any = false;
    thread.interruptions.take([&](const Interruptions::Stack& stack) {
        const std::uint32_t frame = native_frame(process, stack.registers,
                                                 [&](auto... part) { return stack.read(part...); });
        const std::uint64_t ago = look_monotonic_ns_ - std::min(look_monotonic_ns_, stack.time_ns);
        // A look that came late has closed the sample.
        const std::uint64_t then =
            std::max({now - std::min(now, ago), thread.sample.start_ns, thread.sample.end_ns});
        any = true;
        begin(process, thread, then, frame, state);
    });
    return any;
}

void Sampler::begin(const Process& process, Thread& thread, std::uint64_t now, std::uint32_t frame,
                    HostState state) {
    if (thread.has_sample && thread.sample.frame == frame && thread.sample.state == state) return;
    close(thread, now);
    thread.has_sample = true;
    thread.sample = {
        now,   now,  static_cast<std::uint32_t>(process.id), static_cast<std::uint32_t>(thread.id),
        frame, state};
}

void Sampler::sample(Process& process, Thread& thread, std::uint64_t now, bool python_is_known) {
    const HostState state = thread.state.state();
    const bool native = python_is_known && thread.frame == 0;
    if (native && process.id == getpid()) {
        const bool faults = state == HostState::paging && !thread.state.registers();
        const bool runs = state == HostState::running || state == HostState::ready || faults;
        if (take_interruptions(process, thread, now, faults ? state : HostState::running) && runs) {
            return;
        }
        if (runs && !thread.asked &&
            interrupted_threads_ < Interruptions::most_interrupted_threads) {
            thread.asked = true;
            ++interrupted_threads_;
            thread.interruptions = Interruptions(thread.id, interval_);
        }
    }
    std::uint32_t frame = 0;
    if (thread.frame != 0) {
        ++stacks_;
        // Once more where the program returned or called meanwhile.
        bool valid = false;
        for (int tries = 0; tries < 2 && !valid; ++tries) {
            thread.memory.repeat();
            valid =
                python_->stack(thread.memory, process.id, *process.python, thread.frame, stack_);
        }
        if (valid) {
            frame = number_of(stack_);
        } else {
            ++failed_stacks_;
        }
    } else if (native && thread.state.registers()) {
        thread.memory.repeat();
        frame = native_frame(process, *thread.state.registers(),
                             [&](auto... part) { return thread.memory.read(part...); });
        // Its registers and its stack would be of two moments.
        if (thread.state.ran()) frame = 0;
    }
    begin(process, thread, now, frame, state);
}

void Sampler::close(Thread& thread, std::uint64_t now) {
    if (!std::exchange(thread.has_sample, false)) return;
    thread.sample.end_ns = std::max(now, thread.sample.start_ns);
    if (samples_.size() < most_samples) samples_.push_back(thread.sample);
}

std::uint32_t Sampler::number_of(const std::vector<Python::Frame>& innermost_first) {
    std::uint32_t number = 0;
    for (auto frame = innermost_first.rbegin(); frame != innermost_first.rend(); ++frame) {
        const Frame key{number, *frame};
        const auto known = numbers_.find(key);
        if (known != numbers_.end()) {
            number = known->second;
            continue;
        }
        if (numbers_.size() == most_frames) break;
        number = static_cast<std::uint32_t>(numbers_.size() + 1);
        numbers_.emplace(key, number);
        new_frames_.push_back(key);
    }
    return number;
}

void Sampler::take(activity::Writer& writer, activity::Records& records) {
    std::vector<Frame> frames;
    std::vector<std::pair<activity::HostThread, std::string>> threads;
    std::vector<std::pair<std::string, std::string>> names;
    {
        const std::unique_lock lock(mutex_, patience);
        if (!lock.owns_lock()) return;
        // What goes on is cut, so that a program that is killed loses little of it.
        for (auto& [pid, process] : processes_) {
            for (auto& [tid, thread] : process->threads) {
                if (!thread.has_sample) continue;
                HostSample next = thread.sample;
                next.start_ns = std::max(sampling_.end_ns, next.start_ns);
                close(thread, next.start_ns);
                thread.sample = next;
                thread.has_sample = true;
            }
        }
        std::erase_if(samples_,
                      [](const HostSample& each) { return each.end_ns == each.start_ns; });
        frames = std::exchange(new_frames_, {});
        threads = std::exchange(new_threads_, {});
        records.host_samples = std::exchange(samples_, {});
        records.host_samplings.push_back(sampling_);
        for (const Frame& frame : frames) {
            const std::uint32_t function = frame.at.function;
            if (function < first_native) {
                names.emplace_back(python_->name(function), python_->file(function));
            } else {
                names.emplace_back(native_.name(function - first_native),
                                   native_.file(function - first_native));
            }
        }
        if (python_ && stacks_ > 100 && failed_stacks_ * 2 > stacks_) {
            about_python_ = "the stacks of Python could not be read";
        }
        records.host_samplings.back().python =
            writer.string(ended_ != nullptr ? ended_ : about_python_.c_str());
    }
    for (std::size_t i = 0; i < frames.size(); ++i) {
        records.stack_frames.push_back({frames[i].caller, writer.string(names[i].first),
                                        writer.string(names[i].second), frames[i].at.line});
    }
    for (auto& [thread, name] : threads) {
        thread.name = writer.string(name);
        records.host_threads.push_back(thread);
    }
}

}  // namespace perfgate::stacks
