// SPDX-License-Identifier: Apache-2.0
// Whether an output has the same bits as before, and where not, in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "backend/plugin/output.hpp"

namespace perfgate::backend {

/// "0x3f800000 (1)": the bits as a number, and what they stand for if the type is known.
std::string value_text(std::span<const std::byte> value, std::uint32_t element);

/// The differences of one output, of which the parts are compared one after the other.
class OutputDifference {
  public:
    /// `poison`: what every byte of it was before the later launch.
    OutputDifference(const Output& output, std::byte poison) : output_(output), poison_(poison) {}

    /// The next elements, as they were and as they are.
    void compare(std::span<const std::byte> before, std::span<const std::byte> now);

    bool found() const { return elements_ > 0; }
    /// "output 'y' differs in 2 of 16 elements (5 bytes): element 3 was …, is …".
    std::string text() const;

  private:
    Output output_;
    std::byte poison_;
    std::uint64_t compared_ = 0;  ///< elements
    std::uint64_t elements_ = 0, bytes_ = 0, first_ = 0;
    std::string was_, is_;  ///< of the first
    bool unwritten_ = false;
};

}  // namespace perfgate::backend
