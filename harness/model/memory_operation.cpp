// SPDX-License-Identifier: Apache-2.0
#include "model/memory_operation.hpp"

#include "util/word_of.hpp"

namespace perfgate::model {

std::string_view to_text(MemoryOperationKind kind) {
    return util::word_of<MemoryOperationKind::peer_to_peer>(
        kind, {"unknown", "memset", "host to device", "device to host", "device to device",
               "host to host", "peer to peer"});
}

std::string_view to_text(MemoryKind kind) {
    return util::word_of<MemoryKind::managed_static>(
        kind, {"unknown", "pageable", "pinned", "device", "array", "managed", "static device",
               "static managed"});
}

}  // namespace perfgate::model
