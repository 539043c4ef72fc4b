// SPDX-License-Identifier: Apache-2.0
#include "inject/decode.hpp"

#include <cstring>

namespace perfgate::inject {
namespace {

template <class Record>
activity::Place place_of(const Record& record) {
    return {record.deviceId, record.contextId, record.streamId, record.correlationId};
}

template <class Record>
activity::GraphNode graph_of(const Record& record) {
    return {record.graphNodeId, record.graphId, 0};
}

template <class Record>
activity::Copy copy_of(const Record& record) {
    activity::Copy copy;
    copy.start_ns = record.start;
    copy.end_ns = record.end;
    copy.bytes = record.bytes;
    copy.place = place_of(record);
    copy.graph = graph_of(record);
    copy.kind = static_cast<activity::CopyKind>(record.copyKind);
    copy.source = static_cast<activity::MemoryKind>(record.srcKind);
    copy.destination = static_cast<activity::MemoryKind>(record.dstKind);
    copy.asynchronous = (record.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0 ? 1 : 0;
    return copy;
}

activity::Device device_of(const CUpti_ActivityDevice5& record, activity::StringId name) {
    activity::Device device;
    device.id = record.id;
    device.name = name;
    const bool mig = record.isMigEnabled != 0;
    std::memcpy(device.uuid.data(), mig ? &record.migUuid : &record.uuid, device.uuid.size());
    device.memory_bytes = record.globalMemorySize;
    device.memory_bandwidth_kb_per_s = record.globalMemoryBandwidth;
    device.cc_major = record.computeCapabilityMajor;
    device.cc_minor = record.computeCapabilityMinor;
    device.sm_count = record.numMultiprocessors;
    device.mig = mig ? 1 : 0;
    return device;
}

activity::MemoryEvent memory_event_of(const CUpti_ActivityMemory4& record) {
    activity::MemoryEvent event;
    event.time_ns = record.timestamp;
    event.address = record.address;
    event.bytes = record.bytes;
    event.device = record.deviceId;
    event.context = record.contextId;
    event.correlation = record.correlationId;
    event.kind = static_cast<activity::MemoryKind>(record.memoryKind);
    event.release =
        record.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE ? 1 : 0;
    event.pool =
        record.memoryPoolConfig.memoryPoolType != CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID ? 1 : 0;
    return event;
}

/// Whether a call had begun before recording, or had not returned when its record was taken, which
/// is not a loss.
template <class Record>
bool is_unfinished(const Record& record) {
    return (record.start != 0) != (record.end != 0);
}

/// A stream that waits for an event does not keep the host waiting.
bool is_of_host(const CUpti_ActivitySynchronization2& wait) {
    return wait.type != CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
}

/// API calls that submit work, wait, allocate memory, take long, or cannot be captured. The others
/// are numerous, short and uninformative.
constexpr std::array<std::string_view, 26> recorded_calls{
    "Launch",     "Memcpy",      "Memset",      "Malloc",    "MemAlloc",         "HostAlloc",
    "Free",       "Synchron",    "Graph",       "Register",  "ModuleLoad",       "LibraryLoad",
    "WaitEvent",  "Prefetch",    "MemGetInfo",  "Reset",     "DeviceProperties", "StreamQuery",
    "EventQuery", "ArrayCreate", "AddCallback", "AttachMem", "Unload",           "CtxCreate",
    "CtxDestroy", "MemCreate"};

/// Calls that are on record as launches, copies and memsets, too.
bool submits_work(std::string_view name) {
    const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
    return has("Launch") || ((has("Memcpy") || has("Memset") || has("Prefetch")) && has("Async"));
}

constexpr activity::StringId not_recorded = ~activity::StringId{0};

}  // namespace

bool is_recorded(std::string_view call, bool submissions) {
    if (!submissions && submits_work(call)) return false;
    for (const std::string_view part : recorded_calls) {
        if (call.find(part) != std::string_view::npos) return true;
    }
    return false;
}

template <class Record>
bool Decoder::has_times(const Record& record) {
    if (record.start == 0 || record.end == 0) {
        ++losses_.without_time;
        return false;
    }
    if (record.end < record.start) {
        ++losses_.reversed_time;
        return false;
    }
    return true;
}

activity::StringId Decoder::text(const char* text) {
    return text == nullptr ? 0 : writer_.string(text);
}

activity::StringId Decoder::name_of(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    auto& names = names_[domain == CUPTI_CB_DOMAIN_DRIVER_API ? 0 : 1];
    if (id < names.size() && names[id] != 0) return names[id];
    const char* name = nullptr;
    activity::StringId known = not_recorded;
    if (api_.cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS || name == nullptr) {
        known = writer_.string("a call without a name");
    } else if (is_recorded(name, submissions_)) {
        known = writer_.string(name);
    }
    if (id < names.size()) names[id] = known;
    return known;
}

void Decoder::decode(std::uint8_t* buffer, std::size_t bytes, activity::Records& records) {
    CUpti_Activity* record = nullptr;
    CUptiResult code = CUPTI_SUCCESS;
    while ((code = api_.cuptiActivityGetNextRecord(buffer, bytes, &record)) == CUPTI_SUCCESS) {
        add(*record, records);
    }
    // After an unreadable record, the number of remaining records is unknown.
    if (code != CUPTI_ERROR_MAX_LIMIT_REACHED && bytes != 0) ++losses_.unread;
}

void Decoder::add(const CUpti_Activity& record, activity::Records& records) {
    switch (record.kind) {
        case CUPTI_ACTIVITY_KIND_KERNEL:
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            add_kernel(reinterpret_cast<const CUpti_ActivityKernel10&>(record), records);
            break;
        case CUPTI_ACTIVITY_KIND_MEMCPY: {
            const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpy6&>(record);
            if (has_times(copy)) records.copies.push_back(copy_of(copy));
            break;
        }
        case CUPTI_ACTIVITY_KIND_MEMCPY2: {
            const auto& copy = reinterpret_cast<const CUpti_ActivityMemcpyPtoP4&>(record);
            if (has_times(copy)) records.copies.push_back(copy_of(copy));
            break;
        }
        case CUPTI_ACTIVITY_KIND_MEMSET: {
            const auto& memset = reinterpret_cast<const CUpti_ActivityMemset4&>(record);
            if (has_times(memset)) {
                records.memsets.push_back(
                    {memset.start, memset.end, memset.bytes, place_of(memset), graph_of(memset)});
            }
            break;
        }
        case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: {
            const auto& wait = reinterpret_cast<const CUpti_ActivitySynchronization2&>(record);
            const bool without_time = wait.start == 0 && wait.end == 0;
            if (is_unfinished(wait) || (without_time && !is_of_host(wait))) break;
            if (has_times(wait)) {
                records.synchronisations.push_back(
                    {wait.start, wait.end, static_cast<activity::SynchronisationKind>(wait.type),
                     wait.correlationId, wait.contextId, wait.streamId});
            }
            break;
        }
        case CUPTI_ACTIVITY_KIND_DRIVER:
        case CUPTI_ACTIVITY_KIND_RUNTIME:
            add_api_call(reinterpret_cast<const CUpti_ActivityAPI&>(record), records);
            break;
        case CUPTI_ACTIVITY_KIND_MARKER:
            add_marker(reinterpret_cast<const CUpti_ActivityMarker2&>(record), records);
            break;
        case CUPTI_ACTIVITY_KIND_MEMORY2:
            records.memory_events.push_back(
                memory_event_of(reinterpret_cast<const CUpti_ActivityMemory4&>(record)));
            break;
        case CUPTI_ACTIVITY_KIND_OVERHEAD: {
            const auto& overhead = reinterpret_cast<const CUpti_ActivityOverhead3&>(record);
            const bool thread = overhead.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD;
            records.overheads.push_back({overhead.start, overhead.end,
                                         static_cast<std::uint32_t>(overhead.overheadKind),
                                         thread ? overhead.objectId.pt.threadId : 0});
            break;
        }
        case CUPTI_ACTIVITY_KIND_DEVICE: {
            const auto& device = reinterpret_cast<const CUpti_ActivityDevice5&>(record);
            records.devices.push_back(device_of(device, text(device.name)));
            break;
        }
        case CUPTI_ACTIVITY_KIND_CONTEXT: {
            const auto& context = reinterpret_cast<const CUpti_ActivityContext3&>(record);
            records.contexts.push_back(
                {context.contextId, context.deviceId, context.nullStreamId, 0});
            break;
        }
        default:
            break;
    }
}

void Decoder::add_kernel(const CUpti_ActivityKernel10& record, activity::Records& records) {
    if (!has_times(record)) return;
    const auto size = [](std::int32_t value) { return static_cast<std::uint32_t>(value); };
    activity::LaunchConfiguration launch;
    launch.symbol = text(launch_names_.name_of(record));
    launch.grid = {size(record.gridX), size(record.gridY), size(record.gridZ)};
    launch.block = {size(record.blockX), size(record.blockY), size(record.blockZ)};
    launch.cluster = {record.clusterX, record.clusterY, record.clusterZ};
    launch.registers_per_thread = record.registersPerThread;
    launch.static_smem_bytes = size(record.staticSharedMemory);
    launch.dynamic_smem_bytes = size(record.dynamicSharedMemory);
    launch.local_bytes_per_thread = record.localMemoryPerThread;
    launch.cooperative = record.launchType != CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR ? 1 : 0;
    records.kernels.push_back({record.start, record.end, place_of(record), graph_of(record),
                               writer_.configuration(launch), 0});
}

void Decoder::add_api_call(const CUpti_ActivityAPI& record, activity::Records& records) {
    if (is_unfinished(record) || !has_times(record)) return;
    const auto domain = record.kind == CUPTI_ACTIVITY_KIND_DRIVER ? CUPTI_CB_DOMAIN_DRIVER_API
                                                                  : CUPTI_CB_DOMAIN_RUNTIME_API;
    const activity::StringId name = name_of(domain, record.cbid);
    if (name == not_recorded) return;
    records.api_calls.push_back({record.start, record.end, name, record.threadId,
                                 record.correlationId, record.returnValue});
}

void Decoder::add_marker(const CUpti_ActivityMarker2& record, activity::Records& records) {
    activity::Marker marker;
    marker.time_ns = record.timestamp;
    marker.id = record.id;
    if ((record.flags & CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS) != 0) {
        marker.kind = activity::MarkerKind::instant;
    } else if ((record.flags & CUPTI_ACTIVITY_FLAG_MARKER_START) != 0) {
        marker.kind = activity::MarkerKind::begin;
    } else if ((record.flags & CUPTI_ACTIVITY_FLAG_MARKER_END) != 0) {
        marker.kind = activity::MarkerKind::end;
    } else {
        return;  // synchronisation markers are not ranges
    }
    if (marker.time_ns == 0) {
        ++losses_.without_time;
        return;
    }
    marker.name = text(record.name);
    marker.domain = text(record.domain);
    if (record.objectKind == CUPTI_ACTIVITY_OBJECT_THREAD) {
        marker.thread = record.objectId.pt.threadId;
    }
    records.markers.push_back(marker);
}

}  // namespace perfgate::inject
