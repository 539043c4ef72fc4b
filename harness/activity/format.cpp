// SPDX-License-Identifier: Apache-2.0
#include "activity/format.hpp"

#include <zlib.h>

namespace perfgate::activity {

std::uint32_t block_checksum(const BlockHeader& header, std::span<const std::byte> payload) {
    const auto* fields = reinterpret_cast<const Bytef*>(&header.kind);
    uLong sum = crc32(0, fields, sizeof(header.kind) + sizeof(header.payload_bytes));
    // For a null pointer zlib starts anew.
    if (!payload.empty()) {
        sum = crc32_z(sum, reinterpret_cast<const Bytef*>(payload.data()), payload.size());
    }
    return static_cast<std::uint32_t>(sum);
}

}  // namespace perfgate::activity
