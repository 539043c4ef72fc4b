// SPDX-License-Identifier: Apache-2.0
// Where a function's caller goes on, by the call frame information of its module (.eh_frame) for
// x86-64. The module is untrusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace perfgate::elf {

/// What holds at one instruction. Offsets are from the canonical frame address (CFA): the stack
/// pointer that the caller goes on with.
struct FrameRule {
    /// What the CFA is computed from; nothing if that is another register or an expression.
    enum class Base { none, stack_pointer, frame_pointer } base = Base::none;
    std::int64_t cfa_offset = 0;
    /// Where the return address is; nothing: the function has no caller, or that is not known.
    std::optional<std::int64_t> return_address;
    /// Where the caller's frame pointer (rbp) is, if `saves_frame_pointer`; nothing: not known.
    std::optional<std::int64_t> frame_pointer;
    /// False: the frame pointer is the caller's.
    bool saves_frame_pointer = false;
    std::uint64_t function = 0;  ///< where it begins
    /// From which address on the CFA is computed from the frame pointer.
    std::uint64_t frame_pointer_since = 0;
};

/// Reads the memory of the module; false if it is not all there.
using ModuleMemory = std::function<bool(std::uint64_t from, void* to, std::size_t size)>;

/// The rule for the instruction at `address`, found by the module's search table (.eh_frame_hdr) at
/// `table`. Throws util::InputError if there is none, or it is not one that compilers write.
FrameRule frame_rule(const ModuleMemory& memory, std::uint64_t table, std::uint64_t address);

}  // namespace perfgate::elf
