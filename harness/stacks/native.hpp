// SPDX-License-Identifier: Apache-2.0
// The functions of machine code that a thread is in, where its registers are known. x86-64 only.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "elf/call_frames.hpp"
#include "elf/function_names.hpp"
#include "stacks/memory.hpp"

namespace perfgate::stacks {

struct Registers {
    Address instruction = 0, stack = 0;
    std::optional<Address> frame;  ///< rbp, where it is known
};

class Native {
    struct Module;

  public:
    /// Modules of a process, by address.
    class Places {
      public:
        explicit Places(pid_t process) : process_(process) {}

      private:
        friend Native;
        struct Place {
            Address begin = 0, end = 0, distance = 0;
            Module* module = nullptr;
            std::string head{};         ///< what is at its begin: headers, mostly a build id
            std::uint64_t checked = 0;  ///< the look at which that was still there
        };
        pid_t process_;
        std::vector<Place> places_;
        std::uint64_t next_read_ = 0, pause_ = 1;  ///< looks
    };

    /// Those whose files are kept open.
    static constexpr std::size_t most_named_modules = 64;

    Native();
    ~Native();
    Native& operator=(Native&&) = delete;  // nor copied

    /// The functions with names, from the innermost on, up to where the caller is not known: it is
    /// at a call. Where the frame pointer would be needed and is not known, it follows from the
    /// function's prologue. `memory` has the stack, `look` is the number of the look.
    void stack(const elf::ModuleMemory& memory, Places& places, std::uint64_t look,
               Registers registers, std::vector<std::uint32_t>& to);

    [[nodiscard]] const std::string& name(std::uint32_t function) const {
        return functions_[function].first;
    }
    [[nodiscard]] const std::string& file(std::uint32_t function) const {
        return functions_[function].second;
    }

  private:
    struct Known;

    void read(Places& places, std::uint64_t look);
    const Places::Place* place(Places& places, Address address, std::uint64_t look);
    const Known& known(pid_t process, const Places::Place& place, Address address);
    std::optional<std::uint32_t> function(Module& module, Address address);

    std::map<std::pair<std::string, std::uint64_t>, std::unique_ptr<Module>> modules_;
    std::size_t known_ = 0;  ///< addresses
    std::size_t named_modules_ = 0;
    std::vector<std::pair<std::string, std::string>> functions_;
    std::map<std::pair<std::string, std::string>, std::uint32_t> numbers_;
};

}  // namespace perfgate::stacks
