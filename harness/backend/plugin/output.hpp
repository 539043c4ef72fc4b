// SPDX-License-Identifier: Apache-2.0
// Memory that a case names as its output. What a plugin names is untrusted until it was collected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
        // NOLINTNEXTLINE(performance-no-int-to-ptr): an address on the host or on a device
        return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
    }
};

inline constexpr std::size_t most_outputs = 256;
inline constexpr std::uint64_t most_element_bytes = 64;

/// The outputs that `ask` names to the list that it gets. Throws model::Error if one cannot be
/// right: no memory, no bytes, more than this machine has.
std::vector<Output> collect_outputs(const std::function<void(const pg_outputs&)>& ask);

}  // namespace perfgate::backend
