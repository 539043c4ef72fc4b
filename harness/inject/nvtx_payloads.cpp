// SPDX-License-Identifier: Apache-2.0
#include "inject/nvtx_payloads.hpp"

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace perfgate::inject {
namespace {

/// Where a payload has what we read; NCCL's names for it.
struct Layout {
    std::optional<std::size_t> communicator, bytes, ranks, rank;
};

constexpr std::string_view communicator_name = "NCCL communicator ID";
constexpr std::string_view bytes_name = "Message size [bytes]";
constexpr std::string_view ranks_name = "No. of ranks";
constexpr std::string_view rank_name = "Rank";

// Versions of the header call these differently.
constexpr std::uint64_t first_own_schema = std::uint64_t{1} << 32;
constexpr std::uint64_t schema_has_id = 1 << 8;
constexpr std::uint64_t schema_has_entries = 1 << 4 | 1 << 5;  // and their number

constexpr std::size_t most_layouts = 10'000, most_calls = 1'000'000, most_entries = 256;

/// In a child after fork, where another thread may have held the lock.
std::atomic<bool> abandoned{false};

using Push = int (*)(nvtxDomainHandle_t, const nvtxEventAttributes_t*);

struct State {
    std::mutex mutex;
    std::map<std::pair<nvtxDomainHandle_t, std::uint64_t>, Layout> layouts;
    std::uint64_t next_schema = first_own_schema;
    std::vector<activity::Communicator> communicators;
    std::vector<activity::CommunicationCall> calls;
    std::atomic<const cupti::Api*> api{nullptr};
    std::atomic<Push> push{nullptr};  ///< CUPTI's
    std::atomic<bool> any{false};     ///< layouts
};

/// Never destroyed: ranges may begin until the process ends.
State& state() {
    static auto* instance = new State;
    return *instance;
}

template <class Number>
std::optional<Number> number_at(const nvtxPayloadData_t& data, std::optional<std::size_t> offset) {
    if (!offset || data.size == SIZE_MAX || *offset > data.size ||
        data.size - *offset < sizeof(Number)) {
        return std::nullopt;
    }
    Number value = 0;
    std::memcpy(&value, static_cast<const std::byte*>(data.payload) + *offset, sizeof(value));
    return value;
}

void add(nvtxDomainHandle_t domain, const nvtxPayloadData_t& data) {
    State& own = state();
    if (data.payload == nullptr) return;
    const std::lock_guard lock(own.mutex);
    const auto found = own.layouts.find({domain, data.schemaId});
    if (found == own.layouts.end()) return;
    const Layout& layout = found->second;
    const auto communicator = number_at<std::uint64_t>(data, layout.communicator);
    if (!communicator) return;
    const auto ranks = number_at<std::int32_t>(data, layout.ranks);
    const auto rank = number_at<std::int32_t>(data, layout.rank);
    if (ranks && rank && *ranks > 0 && *rank >= 0 && own.communicators.size() < most_calls) {
        own.communicators.push_back(
            {*communicator, static_cast<std::uint32_t>(*ranks), static_cast<std::uint32_t>(*rank)});
    }
    const auto bytes = number_at<std::uint64_t>(data, layout.bytes);
    if (!bytes || own.calls.size() >= most_calls) return;
    activity::CommunicationCall& call = own.calls.emplace_back();
    own.api.load()->cuptiGetTimestamp(&call.time_ns);
    call.communicator = *communicator;
    call.bytes = *bytes;
    call.thread = static_cast<std::uint32_t>(gettid());
}

int note_and_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) noexcept {
    State& own = state();
    try {
        if (!abandoned && own.any && event != nullptr &&
            event->payloadType == NVTX_PAYLOAD_TYPE_EXT && event->reserved0 == 1) {
            const auto* data = reinterpret_cast<const nvtxPayloadData_t*>(event->payload.ullValue);
            if (data != nullptr) add(domain, *data);
        }
    } catch (...) {
        // The call is not on record, and its kernel shows it.
    }
    return own.push.load()(domain, event);
}

Layout layout_of(const nvtxPayloadSchemaAttr_t& schema) {
    Layout layout;
    for (std::size_t i = 0; i < schema.numEntries; ++i) {
        const nvtxPayloadSchemaEntry_t& entry = schema.entries[i];
        if (entry.name == nullptr) continue;
        const std::string_view name = entry.name;
        const std::size_t offset = entry.offset;
        if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_UINT64 && name == communicator_name) {
            layout.communicator = offset;
        } else if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_SIZE && name == bytes_name) {
            layout.bytes = offset;
        } else if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_INT && name == ranks_name) {
            layout.ranks = offset;
        } else if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_INT && name == rank_name) {
            layout.rank = offset;
        }
    }
    return layout;
}

std::uint64_t register_schema(nvtxDomainHandle_t domain,
                              const nvtxPayloadSchemaAttr_t* schema) noexcept {
    if (schema == nullptr || abandoned) return 0;
    State& own = state();
    try {
        const std::lock_guard lock(own.mutex);
        const bool has_id = (schema->fieldMask & schema_has_id) != 0;
        const std::uint64_t id = has_id ? schema->schemaId : own.next_schema++;
        const bool has_entries = (schema->fieldMask & schema_has_entries) == schema_has_entries;
        if (!has_entries || schema->entries == nullptr || schema->numEntries > most_entries ||
            own.layouts.size() >= most_layouts) {
            return id;
        }
        if (const Layout layout = layout_of(*schema); layout.communicator) {
            own.layouts[{domain, id}] = layout;
            own.any = true;
        }
        return id;
    } catch (...) {
        return 0;
    }
}

}  // namespace

void watch_payloads(NvtxGetExportTableFunc_t export_table, const cupti::Api& api) noexcept {
    const auto* callbacks =
        static_cast<const NvtxExportTableCallbacks*>(export_table(NVTX_ETID_CALLBACKS));
    NvtxFunctionTable table = nullptr;
    unsigned int size = 0;
    if (callbacks == nullptr || callbacks->struct_size < sizeof(*callbacks) ||
        callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0 ||
        table == nullptr || size <= NVTX_CBID_CORE2_DomainRangePushEx ||
        table[NVTX_CBID_CORE2_DomainRangePushEx] == nullptr) {
        return;
    }
    NvtxFunctionPointer& slot = *table[NVTX_CBID_CORE2_DomainRangePushEx];
    const auto theirs = reinterpret_cast<Push>(slot);
    if (theirs == nullptr || theirs == &note_and_push) return;
    State& own = state();
    own.api = &api;
    // Every copy of NVTX has CUPTI's one function.
    Push none = nullptr;
    if (!own.push.compare_exchange_strong(none, theirs) && none != theirs) return;
    slot = reinterpret_cast<NvtxFunctionPointer>(&note_and_push);
}

int watch_schemas(nvtxExtModuleInfo_t* module) noexcept {
    if (module == nullptr || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID ||
        module->segmentsCount == 0 || module->segments == nullptr) {
        return 0;
    }
    const nvtxExtModuleSegment_t& first = module->segments[0];
    if (first.slotCount <= NVTX3EXT_CBID_nvtxPayloadSchemaRegister) return 0;
    first.functionSlots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] =
        reinterpret_cast<std::intptr_t>(&register_schema);
    return 1;
}

void take_payloads(activity::Records& records) {
    State& own = state();
    const std::lock_guard lock(own.mutex);
    records.communicators = std::exchange(own.communicators, {});
    records.communication_calls = std::exchange(own.calls, {});
}

void abandon_payloads() noexcept {
    abandoned = true;
}

}  // namespace perfgate::inject
