// SPDX-License-Identifier: Apache-2.0
// The functions that a Python interpreter executes, read from its memory while it runs and without
// its lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stacks/memory.hpp"

namespace perfgate::stacks {

/// Where the interpreter keeps what is needed: offsets in bytes.
struct PythonLayout {
    static constexpr std::uint16_t none = 0xffff;
    int minor = 0;  ///< of 3.x
    std::uint16_t first_interpreter = 0, next_interpreter = 0, first_thread = 0;
    std::uint16_t next_thread = 0, interpreter = 0, frame = 0;
    std::uint16_t frame_of_cframe = none;  ///< none: `frame` is the frame itself
    std::uint16_t thread_id = 0;           ///< of the kernel; of 3.10 the pthread_t
    std::uint16_t caller = 0, code = 0, instruction = 0;
    std::uint16_t file = 0, name = 0, first_line = 0, lines = 0;
    std::uint16_t instructions = 0;  ///< in the code object; 0: `instruction` is an index
    std::uint16_t ascii_text = 0, other_text = 0;
};

/// The layout of a version that has no table of its own offsets (3.10 to 3.12), or that of the
/// table at the beginning of the runtime (3.13 and 3.14). Nothing, with the reason, for others.
std::optional<PythonLayout> python_layout(std::string_view version, const Memory& memory,
                                          Address runtime, std::string& why_not);

/// The line of an instruction, by the line table of its code object; 0: it has none.
std::uint32_t line_at(std::string_view table, int minor, std::uint32_t first_line,
                      std::uint32_t byte_offset);

class Python {
  public:
    struct Thread {
        std::uint64_t id = 0;  ///< of the kernel; 0: it is not known
        Address frame = 0;
    };
    struct Frame {
        std::uint32_t function = 0;  ///< for name() and file()
        std::uint32_t line = 0;
        bool operator==(const Frame&) const = default;
    };

    /// The interpreter of this process. `about` gets its version, or why there is none that can be
    /// read; it is empty if the process has no interpreter.
    static std::optional<Python> find(std::string& about);

    /// How far the interpreter of another process is from where this one is: 0 after fork. Nothing
    /// if it does not run the same one.
    [[nodiscard]] std::optional<Address> distance_in(pid_t process) const;

    /// False if the list of threads does not validate.
    bool threads(RepeatedReads& memory, Address distance, std::vector<Thread>& to) const;

    /// The stack from the innermost function on. False if it does not validate. A stack deeper than
    /// `most_frames` lacks its outermost functions.
    bool stack(RepeatedReads& memory, pid_t process, Address distance, Address frame,
               std::vector<Frame>& to);

    [[nodiscard]] const std::string& name(std::uint32_t function) const {
        return functions_[function].name;
    }
    [[nodiscard]] const std::string& file(std::uint32_t function) const {
        return functions_[function].file;
    }

    static constexpr std::size_t most_frames = 200;

  private:
    struct Function {
        std::string name, file, lines;
        std::uint32_t first_line = 0;
        /// The last one asked for: callers stay where they are.
        std::uint32_t offset = 0, line = 0;
    };
    struct Code {
        Address file = 0, name = 0, lines = 0;
        std::uint32_t first_line = 0;
        bool operator==(const Code&) const = default;
    };
    struct Known {
        Code code;
        std::uint32_t function = 0;
    };

    bool text(const Memory& memory, Address at, Address distance, std::string& to) const;
    /// Nothing if there is no code object; `not_kept` if too many functions are known.
    std::optional<std::uint32_t> function(RepeatedReads& memory, pid_t process, Address distance,
                                          Address code);
    std::uint32_t number_of(Function function);

    PythonLayout layout_;
    Address runtime_ = 0, code_type_ = 0, text_type_ = 0;
    std::string module_;     ///< the file that the runtime is mapped from
    Address module_at_ = 0;  ///< its first mapping
    std::size_t thread_id_in_pthread_ = 0;
    std::vector<Function> functions_;
    std::size_t bytes_ = 0;  ///< of their texts
    /// By a hash of what a function is: processes have the same ones at other addresses.
    std::unordered_multimap<std::size_t, std::uint32_t> same_;
    std::unordered_map<std::uint64_t, Known> codes_;  ///< by process and address
};

}  // namespace perfgate::stacks
