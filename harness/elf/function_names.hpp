// SPDX-License-Identifier: Apache-2.0
// The functions of a program or shared library, by the symbol table of its file, which is
// untrusted. The file is read, not mapped: one that is replaced meanwhile must do no harm.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "util/file.hpp"

namespace perfgate::elf {

class FunctionNames {
  public:
    /// Throws util::InputError if it is not an ELF file for x86-64, or larger than any.
    explicit FunctionNames(util::Descriptor file);

    /// The function (mangled) at an address of the file; empty if there is none.
    [[nodiscard]] std::string at(std::uint64_t address) const;

  private:
    struct Function {
        std::uint64_t begin = 0;
        std::uint32_t size = 0, name = 0;
    };

    util::Descriptor file_;
    std::uint64_t names_at_ = 0, names_size_ = 0;
    std::vector<Function> functions_;  ///< by address
};

}  // namespace perfgate::elf
