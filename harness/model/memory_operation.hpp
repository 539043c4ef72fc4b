// SPDX-License-Identifier: Apache-2.0
// A copy or memset of a launch, as its activity record describes it.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

#include "util/text.hpp"

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

    auto operator<=>(const MemoryOperation&) const = default;
};

inline std::string_view to_text(MemoryOperationKind kind) {
    return util::word_of<MemoryOperationKind::peer_to_peer>(
        kind, {"unknown", "memset", "host to device", "device to host", "device to device",
               "host to host", "peer to peer"});
}

inline std::string_view to_text(MemoryKind kind) {
    return util::word_of<MemoryKind::managed_static>(
        kind, {"unknown", "pageable", "pinned", "device", "array", "managed", "static device",
               "static managed"});
}

/// By CUPTI's numbers (CUpti_ActivityMemcpyKind), which recordings have, too. For copies from or to
/// an array, the direction follows from the memory kinds.
constexpr MemoryOperationKind operation_kind_of(std::uint32_t cupti) {
    using enum MemoryOperationKind;
    constexpr MemoryOperationKind kinds[] = {unknown,          host_to_device,   device_to_host,
                                             host_to_device,   device_to_host,   device_to_device,
                                             device_to_device, device_to_device, device_to_device,
                                             host_to_host,     peer_to_peer};
    return cupti < std::size(kinds) ? kinds[cupti] : unknown;
}

/// By CUPTI's numbers (CUpti_ActivityMemoryKind), which are those of this enum.
constexpr MemoryKind memory_kind_of(std::uint32_t cupti) {
    return cupti <= static_cast<std::uint32_t>(MemoryKind::managed_static)
               ? static_cast<MemoryKind>(cupti)
               : MemoryKind::unknown;
}

}  // namespace perfgate::model
