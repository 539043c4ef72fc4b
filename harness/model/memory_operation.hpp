// SPDX-License-Identifier: Apache-2.0
// A copy or memset of a launch, as its activity record describes it.
#pragma once

#include <cstdint>
#include <string_view>

namespace perfgate::model {

enum class MemoryOperationKind {
    unknown,
    memset,
    host_to_device,
    device_to_host,
    device_to_device,
    host_to_host,
    peer_to_peer,
};

enum class MemoryKind {
    unknown,  ///< not recorded, or the `from` of a memset, which has none
    pageable,
    pinned,
    device,
    array,
    managed,
    device_static,
    managed_static,
};

struct MemoryOperation {
    MemoryOperationKind kind = MemoryOperationKind::unknown;
    std::int64_t bytes = 0;
    MemoryKind from = MemoryKind::unknown, to = MemoryKind::unknown;

    // NOLINTNEXTLINE(modernize-use-nullptr): there is no pointer
    auto operator<=>(const MemoryOperation&) const = default;
};

std::string_view to_text(MemoryOperationKind kind);  ///< "host to device"
std::string_view to_text(MemoryKind kind);           ///< "pinned"

}  // namespace perfgate::model
