// SPDX-License-Identifier: Apache-2.0
#include "stacks/thread_state.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <utility>

#include "stacks/interruptions.hpp"

namespace perfgate::stacks {
namespace {

using activity::HostState;

struct Call {
    long number;
    HostState state;
};
constexpr Call calls[] = {
    {SYS_futex, HostState::lock},      {SYS_read, HostState::io},
    {SYS_write, HostState::io},        {SYS_pread64, HostState::io},
    {SYS_pwrite64, HostState::io},     {SYS_readv, HostState::io},
    {SYS_writev, HostState::io},       {SYS_preadv, HostState::io},
    {SYS_openat, HostState::io},       {SYS_fsync, HostState::io},
    {SYS_fdatasync, HostState::io},    {SYS_io_getevents, HostState::io},
    {SYS_sendfile, HostState::io},     {SYS_newfstatat, HostState::io},
    {SYS_getdents64, HostState::io},   {SYS_ppoll, HostState::data},
    {SYS_pselect6, HostState::data},   {SYS_epoll_pwait, HostState::data},
    {SYS_recvfrom, HostState::data},   {SYS_recvmsg, HostState::data},
    {SYS_sendto, HostState::data},     {SYS_sendmsg, HostState::data},
    {SYS_accept4, HostState::data},    {SYS_connect, HostState::data},
    {SYS_nanosleep, HostState::sleep}, {SYS_clock_nanosleep, HostState::sleep},
    {SYS_wait4, HostState::child},     {SYS_waitid, HostState::child},
    {SYS_ioctl, HostState::driver},    {SYS_mmap, HostState::paging},
    {SYS_munmap, HostState::paging},   {SYS_madvise, HostState::paging},
    {SYS_mprotect, HostState::paging}, {SYS_brk, HostState::paging},
    {-1, HostState::paging},  // not in a call
#ifdef SYS_poll               // not on all processors
    {SYS_poll, HostState::data},       {SYS_select, HostState::data},
    {SYS_epoll_wait, HostState::data}, {SYS_open, HostState::io},
#endif
};

/// Faults that take about 0.5 µs each are the cause if they take this much of the time.
constexpr std::uint64_t ns_of_fault = 500, faulting_parts = 4;

/// Descriptors for what is opened briefly, and for what others keep.
constexpr rlim_t spare_descriptors =
    16 + Native::most_named_modules + Interruptions::most_interrupted_threads;

util::Descriptor opened(const std::string& folder, const char* name) {
    return util::Descriptor(::open((folder + name).c_str(), O_RDONLY | O_CLOEXEC));
}

/// The text of the file now; empty if there is none.
std::string_view text_of(const util::Descriptor& file, std::array<char, 512>& buffer) {
    const ssize_t size =
        file.get() < 0 ? -1 : ::pread(file.get(), buffer.data(), buffer.size() - 1, 0);
    return {buffer.data(), size < 0 ? 0 : static_cast<std::size_t>(size)};
}

/// The words from `first` on, of those that blanks part.
template <std::size_t count>
void numbers(std::string_view text, std::size_t first, std::array<std::uint64_t, count>& to) {
    for (std::size_t word = 0; word < first + count && !text.empty(); ++word) {
        const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
        const bool hexadecimal = text.starts_with("0x");
        if (word >= first) {
            std::from_chars(text.data() + (hexadecimal ? 2 : 0), text.data() + end,
                            to[word - first], hexadecimal ? 16 : 10);
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

std::string task_folder(pid_t process, pid_t thread) {
    return "/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/";
}

}  // namespace

HostState state_in_call(long call) {
    for (const Call& known : calls) {
        if (known.number == call) return known.state;
    }
    return HostState::other;
}

ThreadState::ThreadState(pid_t process, pid_t thread) : folder_(task_folder(process, thread)) {
    util::Descriptor schedule = opened(folder_, "schedstat"), stat = opened(folder_, "stat"),
                     call = opened(folder_, "syscall");
    rlimit limit{};
    if (stat.get() < 0 || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    // Numbers are given from the lowest on.
    const auto used = static_cast<rlim_t>(std::max({schedule.get(), stat.get(), call.get()}));
    if (used >= limit.rlim_cur || limit.rlim_cur - used <= spare_descriptors) return;
    keeps_files_ = true;
    schedule_ = std::move(schedule);
    stat_ = std::move(stat);
    call_ = std::move(call);
}

std::string_view ThreadState::text_now(const util::Descriptor& kept, const char* name,
                                       Buffer& buffer) const {
    return keeps_files_ ? text_of(kept, buffer) : text_of(opened(folder_, name), buffer);
}

std::array<std::uint64_t, 2> ThreadState::schedule_now() const {
    Buffer buffer{};
    std::array<std::uint64_t, 2> schedule{};
    numbers(text_now(schedule_, "schedstat", buffer), 1, schedule);
    return schedule;
}

bool ThreadState::ran() const {
    return schedule_now()[1] != runs_;
}

bool ThreadState::look(std::uint64_t since_ns) {
    Buffer buffer{};
    const std::array<std::uint64_t, 2> schedule = schedule_now();
    // A thread that was blocked and has not been given a processor since is where it was. A kernel
    // without these statistics says 0.
    unchanged_ = blocked_ && schedule[1] != 0 && schedule[1] == runs_;
    const std::uint64_t was_ready_ns = schedule[0] - ready_ns_;
    ready_ns_ = schedule[0];
    runs_ = schedule[1];
    if (unchanged_) return true;
    registers_.reset();

    // This costs half of what its other state does, and mostly says all.
    since_stat_ns_ += since_ns;
    if (blocked_ && read_call()) return true;
    errno = 0;
    const std::string_view stat = text_now(stat_, "stat", buffer);
    if (stat.empty()) {
        state_ = HostState::other;
        blocked_ = false;
        return errno == EMFILE || errno == ENFILE || errno == ENOMEM;
    }
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string_view::npos || name_end + 2 >= stat.size()) return false;
    const std::string_view fields = stat.substr(name_end + 2);
    const char letter = fields[0];
    if (letter == 'Z' || letter == 'X') return false;
    std::array<std::uint64_t, 1> faults{};
    numbers(fields, 7, faults);
    const std::uint64_t new_faults = faults[0] - faults_;
    const std::uint64_t since_stat_ns = std::exchange(since_stat_ns_, 0);
    faults_ = faults[0];
    blocked_ = letter != 'R';
    if (!blocked_) {
        const bool faulting = new_faults * ns_of_fault * faulting_parts >= since_stat_ns;
        const bool waited = 2 * was_ready_ns >= since_ns;
        state_ = since_ns == 0 ? HostState::running
                 : waited      ? HostState::ready
                 : faulting    ? HostState::paging
                               : HostState::running;
    } else if (!read_call()) {
        // It says "running" by now, or nothing where that is not allowed.
        state_ = letter == 'D' ? HostState::io : HostState::other;
    }
    return true;
}

bool ThreadState::read_call() {
    Buffer buffer{};
    const std::string_view call = text_now(call_, "syscall", buffer);
    long number = 0;
    if (std::from_chars(call.data(), call.data() + call.size(), number).ec != std::errc{}) {
        return false;
    }
    // After the call's operands, if it is in a call.
    constexpr std::size_t operands = 6;
    std::array<Address, 2> pointers{};
    numbers(call, number < 0 ? 1 : 1 + operands, pointers);
    if (pointers[0] == 0) return false;  // it has ended
    registers_ = {pointers[1], pointers[0], std::nullopt};
    state_ = state_in_call(number);
    return true;
}

std::optional<std::vector<pid_t>> threads_of(pid_t process) {
    std::vector<pid_t> threads;
    const std::string folder = "/proc/" + std::to_string(process) + "/task";
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(folder.c_str()), &::closedir);
    if (listing == nullptr) {
        return errno == ENOENT || errno == ESRCH ? std::optional(threads) : std::nullopt;
    }
    while (const dirent* entry = ::readdir(listing.get())) {
        const pid_t thread = std::atoi(entry->d_name);
        if (thread > 0) threads.push_back(thread);
    }
    return threads;
}

std::vector<pid_t> children_of(pid_t process, pid_t thread) {
    std::vector<pid_t> children;
    std::array<char, 512> buffer{};
    const util::Descriptor file = opened(task_folder(process, thread), "children");
    std::string_view text = text_of(file, buffer);
    while (!text.empty()) {
        pid_t child = 0;
        const std::size_t end = std::min(text.find(' '), text.size());
        std::from_chars(text.data(), text.data() + end, child);
        if (child > 0 && end != text.size()) children.push_back(child);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return children;
}

std::string name_of(pid_t process, pid_t thread) {
    std::array<char, 512> buffer{};
    const util::Descriptor file = opened(task_folder(process, thread), "comm");
    const std::string_view text = text_of(file, buffer);
    return std::string(text.substr(0, text.find('\n')));
}

}  // namespace perfgate::stacks
