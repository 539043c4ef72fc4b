// SPDX-License-Identifier: Apache-2.0
// Memory that a case names as its output. What a plugin names is untrusted until it was collected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "perfgate.h"

namespace perfgate::backend {

struct Output {
    std::string name;           ///< printable
    std::uint64_t address = 0;  ///< on the host or the device
    std::uint64_t bytes = 0;
    std::uint64_t element_bytes = 1;             ///< divides `bytes`
    std::uint32_t element = PG_ELEMENT_UNKNOWN;  ///< a pg_element, or of a newer plugin

    /// Where it is; not to be read here if that is on a device.
    std::byte* data() const {
        // An address on the host or on a device.
        return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
    }
};

inline constexpr std::size_t most_outputs = 256;
inline constexpr std::uint64_t most_element_bytes = 64;

/// The outputs that `ask` names to the list that it gets. Throws util::Error if one cannot be
/// right: no memory, no bytes, more than this machine has.
std::vector<Output> collect_outputs(const std::function<void(const pg_outputs&)>& ask);

// Whether an output has the same bits as before, and where not, in words.

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
