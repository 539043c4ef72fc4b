// SPDX-License-Identifier: Apache-2.0
#include "model/memory_operation.hpp"

#include "model/json_reader.hpp"
#include "model/json_writer.hpp"

namespace perfgate::model {

namespace {

constexpr MemoryOperationKind operation_kinds[] = {
    MemoryOperationKind::unknown,          MemoryOperationKind::memset,
    MemoryOperationKind::host_to_device,   MemoryOperationKind::device_to_host,
    MemoryOperationKind::device_to_device, MemoryOperationKind::host_to_host,
    MemoryOperationKind::peer_to_peer,
};
constexpr MemoryKind memory_kinds[] = {
    MemoryKind::unknown,       MemoryKind::pageable,       MemoryKind::pinned,
    MemoryKind::device,        MemoryKind::array,          MemoryKind::managed,
    MemoryKind::device_static, MemoryKind::managed_static,
};

}  // namespace

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

void write(JsonWriter& json, const MemoryOperation& operation) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "kind", to_text(operation.kind));
    write_field(json, "bytes", operation.bytes);
    if (operation.from != MemoryKind::unknown) write_field(json, "from", to_text(operation.from));
    if (operation.to != MemoryKind::unknown) write_field(json, "to", to_text(operation.to));
    json.end_object();
}

void read(JsonValue value, MemoryOperation& operation) {
    read_choice(value.at("kind"), operation_kinds, operation.kind);
    read_field(value, "bytes", operation.bytes);
    if (const auto from = value.find("from")) read_choice(*from, memory_kinds, operation.from);
    if (const auto to = value.find("to")) read_choice(*to, memory_kinds, operation.to);
}

}  // namespace perfgate::model
