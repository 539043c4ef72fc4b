// SPDX-License-Identifier: Apache-2.0
#include "stacks/interruptions.hpp"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>

namespace perfgate::stacks {
namespace {

constexpr std::size_t page_bytes = 4096, ring_bytes = 16 * page_bytes, stack_bytes = 8192;

// Numbers of registers, asm/perf_regs.h.
constexpr std::uint64_t x86_frame = 6, x86_stack = 7, x86_instruction = 8;

/// As asked for below: what a sample holds before and behind the stack.
struct Head {
    std::uint64_t time_ns, abi, frame, stack, instruction, stack_size;
};

}  // namespace

bool Interruptions::Stack::read(Address from, void* to, std::size_t size) const {
    const Address begin = registers.stack;
    if (from < begin || from - begin > bytes.size() || size > bytes.size() - (from - begin)) {
        return false;
    }
    std::memcpy(to, bytes.data() + (from - begin), size);
    return true;
}

Interruptions::Interruptions(pid_t thread, std::chrono::nanoseconds interval) {
#ifdef __x86_64__
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_CPU_CLOCK;
    attributes.sample_period = static_cast<std::uint64_t>(interval.count());
    attributes.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
    attributes.sample_regs_user = 1U << x86_frame | 1U << x86_stack | 1U << x86_instruction;
    attributes.sample_stack_user = stack_bytes;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.use_clockid = 1;
    attributes.clockid = CLOCK_MONOTONIC;
    event_ = util::Descriptor(static_cast<int>(
        ::syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC)));
    if (event_.get() < 0) return;
    ring_ = ::mmap(nullptr, page_bytes + ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                   event_.get(), 0);
    if (ring_ == MAP_FAILED) {
        ring_ = nullptr;
        event_ = util::Descriptor();
    }
#else
    static_cast<void>(thread), static_cast<void>(interval);
#endif
}

Interruptions::Interruptions(Interruptions&& other) noexcept {
    *this = std::move(other);
}
Interruptions& Interruptions::operator=(Interruptions&& other) noexcept {
    event_ = std::move(other.event_);
    std::swap(ring_, other.ring_);
    return *this;
}
Interruptions::~Interruptions() {
    if (ring_ != nullptr) ::munmap(ring_, page_bytes + ring_bytes);
}

void Interruptions::take(const std::function<void(const Stack&)>& visit) {
    if (ring_ == nullptr) return;
    auto* const page = static_cast<perf_event_mmap_page*>(ring_);
    const auto* const data = static_cast<const std::byte*>(ring_) + page_bytes;
    const std::uint64_t end = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    std::uint64_t at = page->data_tail;
    const auto copy = [&](std::uint64_t from, void* to, std::size_t size) {
        const std::size_t first = from % ring_bytes, part = std::min(size, ring_bytes - first);
        std::memcpy(to, data + first, part);
        std::memcpy(static_cast<std::byte*>(to) + part, data, size - part);
    };
    // The program can write to the ring, too.
    perf_event_header header{};
    while (at < end && end - at <= ring_bytes && end - at >= sizeof header) {
        copy(at, &header, sizeof header);
        if (header.size < sizeof header || header.size > end - at) break;
        Head head{};
        constexpr std::size_t before = sizeof header + sizeof head;
        std::uint64_t used = 0;  // of the stack; its last bytes, as the kernel writes them
        if (header.type == PERF_RECORD_SAMPLE && header.size >= before + sizeof used) {
            copy(at + sizeof header, &head, sizeof head);
            copy(at + header.size - sizeof used, &used, sizeof used);
            if (head.abi == PERF_SAMPLE_REGS_ABI_64 && head.stack_size == stack_bytes &&
                header.size == before + stack_bytes + sizeof used && used <= stack_bytes) {
                Stack stack{head.time_ns, {head.instruction, head.stack, head.frame}, {}};
                stack.bytes.resize(used);
                copy(at + before, stack.bytes.data(), used);
                visit(stack);
            }
        }
        at += header.size;
    }
    __atomic_store_n(&page->data_tail, end, __ATOMIC_RELEASE);
}

}  // namespace perfgate::stacks
