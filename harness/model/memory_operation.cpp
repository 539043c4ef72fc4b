// SPDX-License-Identifier: Apache-2.0
#include "model/memory_operation.hpp"

namespace perfgate::model {

std::string_view to_text(MemoryOperationKind kind) {
    switch (kind) {
        case MemoryOperationKind::memset:
            return "memset";
        case MemoryOperationKind::host_to_device:
            return "host to device";
        case MemoryOperationKind::device_to_host:
            return "device to host";
        case MemoryOperationKind::device_to_device:
            return "device to device";
        case MemoryOperationKind::host_to_host:
            return "host to host";
        case MemoryOperationKind::peer_to_peer:
            return "peer to peer";
        case MemoryOperationKind::unknown:
            break;
    }
    return "unknown";
}

std::string_view to_text(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::pageable:
            return "pageable";
        case MemoryKind::pinned:
            return "pinned";
        case MemoryKind::device:
            return "device";
        case MemoryKind::array:
            return "array";
        case MemoryKind::managed:
            return "managed";
        case MemoryKind::device_static:
            return "static device";
        case MemoryKind::managed_static:
            return "static managed";
        case MemoryKind::unknown:
            break;
    }
    return "unknown";
}

}  // namespace perfgate::model
