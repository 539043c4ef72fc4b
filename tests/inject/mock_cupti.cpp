// SPDX-License-Identifier: Apache-2.0
// A libcupti whose records are made up: what the injection library asks for it gets, in the layout
// of the real one. It is built as the one of CUDA 13.0, 12.9 and 12.4 (MOCK_CUDA), which have fewer
// functions and shorter records. It holds its lock while it calls back, so that a library that
// calls CUPTI from there hangs here as it would hang in the field.
//
// From version 13.2 on, as the real one, it wants a subscriber first, and refuses calls without one
// in their arguments to the subscribers of cuptiSubscribe_v2. MOCK_LOG: a file to which the names
// of calls that begin a recording are appended.
//
// Faults, by environment: MOCK_VERSION, MOCK_REFUSED (the function that is refused), MOCK_HOLDER
// (someone else has subscribed), MOCK_LOSE and MOCK_NO_TIME and MOCK_REVERSED (so many kernels
// without record, time, order), MOCK_CALLS_NO_TIME and MOCK_WAITS_NO_TIME and MOCK_MARKERS_NO_TIME
// (so many calls, synchronisations, markers), MOCK_UNFINISHED (so many calls without end),
// MOCK_DROP (records said to be dropped), MOCK_LOSE_MEMORY (so many allocations without record),
// MOCK_DISABLED (a kind that cannot be enabled). MOCK_WORK_NS: how long each kernel, copy and
// memset takes. MOCK_SMS: how many SMs the GPU has (4). MOCK_REGISTERS: of a kernel's threads (32).
// MOCK_STALE_NAMES: once a module was unloaded, records of kernels have the name of the last one
// before. MOCK_SUBSCRIBE_INITIALISES: cuptiSubscribe initialises the driver, which calls the
// injection library, and calls that itself.
#include <cupti.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "mock_counters.hpp"
#include "mock_hooks.hpp"

#define EXPORT extern "C" __attribute__((visibility("default")))

#ifndef MOCK_CUDA
#define MOCK_CUDA 1300
#endif

namespace perfgate::mock {
namespace {

constexpr std::uint32_t own_version = MOCK_CUDA == 1300 ? 130001 : MOCK_CUDA == 1209 ? 28 : 22;
/// Calls of the driver from this number on are unknown.
constexpr std::uint32_t driver_calls = MOCK_CUDA == 1300   ? CUPTI_DRIVER_TRACE_CBID_SIZE
                                       : MOCK_CUDA == 1209 ? 784
                                                           : 754;

/// How many bytes of a record this version fills; what follows is not its.
template <class Record>
constexpr std::size_t filled_bytes = sizeof(Record);
#if MOCK_CUDA < 1300
template <>
constexpr std::size_t filled_bytes<CUpti_ActivityKernel10> = 208;
#endif
#if MOCK_CUDA < 1206
template <>
constexpr std::size_t filled_bytes<CUpti_ActivityMemcpy6> = 88;
template <>
constexpr std::size_t filled_bytes<CUpti_ActivitySynchronization2> = 40;
template <>
constexpr std::size_t filled_bytes<CUpti_ActivityMemory4> = 120;
template <>
constexpr std::size_t filled_bytes<CUpti_ActivityContext3> = 24;
#endif

/// An environment variable as a number that runs out.
class Fault {
  public:
    explicit Fault(const char* name) {
        const char* value = std::getenv(name);
        left_ = value == nullptr ? 0 : std::atol(value);
    }
    bool strikes() { return left_ > 0 && left_-- > 0; }
    [[nodiscard]] long left() const { return left_; }

  private:
    std::atomic<long> left_;
};

/// How long a piece of device work takes.
std::uint64_t work_length_ns() {
    const char* value = std::getenv("MOCK_WORK_NS");
    return value == nullptr ? 5000 : std::strtoull(value, nullptr, 10);
}

struct State {
    std::mutex mutex;
    CUpti_BuffersCallbackRequestFunc request = nullptr;
    CUpti_BuffersCallbackCompleteFunc complete = nullptr;
    std::uint8_t* buffer = nullptr;
    std::size_t capacity = 0, used = 0;
    std::set<std::uint32_t> kinds;
    std::set<std::pair<int, std::uint32_t>> callbacks, calls;
    CUpti_CallbackFunc subscriber = nullptr;
    bool subscribed_v2 = false;
    void* user = nullptr;
    std::atomic<std::uint32_t> next_marker{1};
    std::uint64_t device_time = 0;
    std::uint64_t work_ns = work_length_ns();
    const char* last_name = nullptr;   ///< of a kernel
    const char* stale_name = nullptr;  ///< what records of kernels have instead of theirs
    Fault lose{"MOCK_LOSE"}, no_time{"MOCK_NO_TIME"}, reversed{"MOCK_REVERSED"}, drop{"MOCK_DROP"},
        lose_memory{"MOCK_LOSE_MEMORY"}, calls_no_time{"MOCK_CALLS_NO_TIME"},
        waits_no_time{"MOCK_WAITS_NO_TIME"}, markers_no_time{"MOCK_MARKERS_NO_TIME"},
        unfinished{"MOCK_UNFINISHED"};
};

State& state() {
    static auto* instance = new State;
    return *instance;
}

std::uint32_t version() {
    const char* value = std::getenv("MOCK_VERSION");
    return value == nullptr ? own_version : static_cast<std::uint32_t>(std::atoi(value));
}

/// Whether the function, of those without a subscriber as argument, may be called.
CUptiResult may_call(std::string_view function) {
    const char* refused = std::getenv("MOCK_REFUSED");
    if (refused != nullptr && function == refused) return CUPTI_ERROR_NOT_COMPATIBLE;
    const State& own = state();
    const bool mixed = own.subscriber == nullptr || own.subscribed_v2;
    return version() >= 130200 && mixed ? CUPTI_ERROR_NOT_COMPATIBLE : CUPTI_SUCCESS;
}

void log_call(const char* function) {
    if (const char* file = std::getenv("MOCK_LOG"); file != nullptr) {
        std::ofstream(file, std::ios::app) << function << '\n';
    }
}

std::uint64_t now() {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
           static_cast<std::uint64_t>(time.tv_nsec);
}

/// The caller holds the lock.
void deliver() {
    State& own = state();
    if (own.buffer == nullptr || own.complete == nullptr) return;
    std::uint8_t* buffer = std::exchange(own.buffer, nullptr);
    own.complete(nullptr, 0, buffer, own.capacity, std::exchange(own.used, 0));
}

constexpr std::size_t slot_bytes = 320;

/// Adds a record, each in a slot of one size.
template <class Record>
void add(const Record& record) {
    static_assert(sizeof(Record) <= slot_bytes);
    State& own = state();
    const std::lock_guard lock(own.mutex);
    if (!own.kinds.contains(record.kind) || own.request == nullptr) return;
    if (own.buffer != nullptr && own.used + slot_bytes > own.capacity) deliver();
    if (own.buffer == nullptr) {
        std::size_t records = 0;
        own.request(&own.buffer, &own.capacity, &records);
        own.used = 0;
        if (own.buffer == nullptr) return;
    }
    std::memset(own.buffer + own.used, 0xa5, slot_bytes);
    std::memcpy(own.buffer + own.used, &record, filled_bytes<Record>);
    own.used += slot_bytes;
}

template <class Record>
void fill(Record& record, const Work& work) {
    State& own = state();
    const std::uint64_t start = std::max(own.device_time, now());
    record.start = start;
    record.end = own.device_time = start + own.work_ns;
    record.contextId = 1;
    record.streamId = work.stream;
    record.correlationId = work.correlation;
    record.graphId = work.graph;
    record.graphNodeId = work.graph_node;
}

/// The calling thread's, where the driver's mock is loaded.
CUcontext current_context() {
    static auto* get = reinterpret_cast<decltype(&cuCtxGetCurrent)>(
        dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "cuCtxGetCurrent"));
    CUcontext context = nullptr;
    if (get != nullptr) get(&context);
    return context;
}

/// The kernel of a launch; null for other calls.
const char* symbol_of(std::uint32_t id, const void* parameters) {
    if (id != CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) return nullptr;
    return reinterpret_cast<const char*>(static_cast<const cuLaunchKernel_params*>(parameters)->f);
}

void on_work(const Work& work) {
    State& own = state();
    if (work.kind == Work::copy) {
        CUpti_ActivityMemcpy6 copy{};
        copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
        fill(copy, work);
        copy.bytes = work.bytes;
        copy.copyKind = work.copy_kind;
        copy.srcKind =
            work.pageable ? CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE : CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
        copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
        copy.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
        add(copy);
    } else if (work.kind == Work::memset) {
        CUpti_ActivityMemset4 memset{};
        memset.kind = CUPTI_ACTIVITY_KIND_MEMSET;
        fill(memset, work);
        memset.bytes = work.bytes;
        add(memset);
    } else {
        CUpti_ActivityKernel10 kernel{};
        kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
        fill(kernel, work);
        kernel.name = own.stale_name == nullptr ? work.name : own.stale_name;
        own.last_name = work.name;
        kernel.gridX = static_cast<std::int32_t>(work.grid);
        kernel.gridY = kernel.gridZ = kernel.blockY = kernel.blockZ = 1;
        kernel.blockX = 128;
        const char* registers = std::getenv("MOCK_REGISTERS");
        kernel.registersPerThread =
            static_cast<std::uint16_t>(registers == nullptr ? 32 : std::atoi(registers));
        if (own.lose.strikes()) return;
        if (own.no_time.strikes()) {
            kernel.start = kernel.end = 0;
        } else if (own.reversed.strikes()) {
            kernel.end = kernel.start - 1;
        }
        count_kernel(current_context(), work.name, work.grid);
        sample_kernel(work.name);
        add(kernel);
    }
}

void on_call(bool runtime, std::uint32_t id, const void* parameters, CUresult result,
             std::uint32_t correlation, bool exit) {
    State& own = state();
    const auto domain = runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
    thread_local std::uint64_t entered = 0;
    if (exit && id == CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize) note_synchronised();
    if (!exit) entered = now();
    bool wanted = false;
    CUpti_CallbackFunc subscriber = nullptr;
    {
        const std::lock_guard lock(own.mutex);
        wanted = own.callbacks.contains({domain, id});
        subscriber = own.subscriber;
    }
    if (wanted && subscriber != nullptr) {
        CUpti_CallbackData data{};
        data.callbackSite = exit ? CUPTI_API_EXIT : CUPTI_API_ENTER;
        data.functionParams = parameters;
        data.functionReturnValue = &result;
        data.correlationId = correlation;
        data.context = current_context();
        data.symbolName = runtime ? nullptr : symbol_of(id, parameters);
        subscriber(own.user, domain, id, &data);
    }
    if (!exit || runtime) return;
    {
        const std::lock_guard lock(own.mutex);
        const bool all = own.kinds.contains(CUPTI_ACTIVITY_KIND_DRIVER) && own.calls.empty();
        if (!all && !own.calls.contains({CUPTI_CB_DOMAIN_DRIVER_API, id})) return;
    }
    CUpti_ActivityAPI call{};
    call.kind = CUPTI_ACTIVITY_KIND_DRIVER;
    call.cbid = id;
    call.start = entered;
    call.end = now();
    call.threadId = static_cast<std::uint32_t>(gettid());
    call.correlationId = correlation;
    call.returnValue = result;
    if (own.calls_no_time.strikes()) {
        call.start = call.end = 0;
    } else if (own.unfinished.strikes()) {
        call.end = 0;
    }
    add(call);
    if (id == CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize) {
        CUpti_ActivitySynchronization2 wait{};
        wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
        wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
        if (!own.waits_no_time.strikes()) {
            wait.start = entered;
            wait.end = now();
        }
        wait.correlationId = correlation;
        add(wait);
    }
}

void on_resource(CUpti_CallbackId id, CUpti_ResourceData data) {
    State& own = state();
    CUpti_CallbackFunc subscriber = nullptr;
    {
        const std::lock_guard lock(own.mutex);
        if (own.callbacks.contains({CUPTI_CB_DOMAIN_RESOURCE, id})) subscriber = own.subscriber;
    }
    if (subscriber != nullptr) subscriber(own.user, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

void on_context_created(CUcontext context) {
    CUpti_ResourceData data{};
    data.context = context;
    on_resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED, data);
}

void on_context_destroyed() {
    CUpti_ResourceData data{};
    data.context = current_context();
    on_resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, data);
}

void on_module(const char* cubin, std::size_t bytes) {
    put_samples_aside();
    CUpti_ModuleResourceData module{};
    module.pCubin = cubin;
    module.cubinSize = bytes;
    CUpti_ResourceData data{};
    data.context = current_context();
    data.resourceDescriptor = &module;
    on_resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, data);
}

void on_module_unloads() {
    on_resource(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, {});
    State& own = state();
    if (std::getenv("MOCK_STALE_NAMES") != nullptr) own.stale_name = own.last_name;
}

CUgraphNode node_of(std::uint64_t id) {
    return reinterpret_cast<CUgraphNode>(static_cast<std::uintptr_t>(id));
}

void on_node_captured(std::uint64_t node, std::uint64_t copy) {
    CUpti_GraphData graph{};
    graph.nodeType = CU_GRAPH_NODE_TYPE_KERNEL;
    graph.node = node_of(node);
    CUpti_ResourceData data{};
    data.resourceDescriptor = &graph;
    on_resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, data);
    graph.originalNode = std::exchange(graph.node, node_of(copy));
    on_resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, data);
}

void on_memory(const Memory& memory) {
    if (!memory.release && state().lose_memory.strikes()) return;
    CUpti_ActivityMemory4 record{};
    record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
    record.memoryOperationType = memory.release ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
                                                : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
    record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    record.timestamp = now();
    record.address = memory.address;
    record.bytes = memory.bytes;
    record.contextId = 1;
    record.correlationId = memory.correlation;
    add(record);
}

/// Finds the driver's mock, where the program has it.
void attach() {
    static const Hooks hooks{
        &on_call,   &on_work,           &on_context_created, &on_context_destroyed,
        &on_module, &on_module_unloads, &on_memory,          &on_node_captured};
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver == nullptr) return;
    if (auto* set = reinterpret_cast<void (*)(const Hooks*)>(dlsym(driver, "mock_set_hooks"))) {
        set(&hooks);
    }
}

// NVTX: ranges of one thread end in the opposite order, others by their id.
thread_local std::uint32_t open_ranges[64];
thread_local int open_count = 0;

void add_marker(std::uint32_t flags, std::uint32_t id, const char* name,
                const char* domain = nullptr) {
    CUpti_ActivityMarker2 marker{};
    marker.kind = CUPTI_ACTIVITY_KIND_MARKER;
    marker.flags = static_cast<CUpti_ActivityFlag>(flags);
    marker.timestamp = state().markers_no_time.strikes() ? 0 : now();
    marker.id = id;
    marker.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
    marker.objectId.pt.threadId = static_cast<std::uint32_t>(gettid());
    marker.name = name;
    marker.domain = domain;
    add(marker);
}

int NVTX_API push(const char* name) {
    const std::uint32_t id = state().next_marker++;
    add_marker(CUPTI_ACTIVITY_FLAG_MARKER_START, id, name);
    if (open_count < 64) open_ranges[open_count++] = id;
    return open_count;
}

/// A domain's handle and a registered string's are the texts. What comes with a range is not read.
int NVTX_API push_in(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
    const std::uint32_t id = state().next_marker++;
    add_marker(CUPTI_ACTIVITY_FLAG_MARKER_START, id,
               reinterpret_cast<const char*>(event->message.registered),
               reinterpret_cast<const char*>(domain));
    if (open_count < 64) open_ranges[open_count++] = id;
    return open_count;
}

template <class Handle>
Handle copy_of(const char* text) {
    return reinterpret_cast<Handle>(strdup(text));
}

int NVTX_API pop() {
    if (open_count == 0) return -1;
    add_marker(CUPTI_ACTIVITY_FLAG_MARKER_END, open_ranges[--open_count], nullptr);
    return open_count;
}

nvtxRangeId_t NVTX_API start_range(const char* name) {
    const std::uint32_t id = state().next_marker++;
    add_marker(CUPTI_ACTIVITY_FLAG_MARKER_START, id, name);
    return id;
}

void NVTX_API end_range(nvtxRangeId_t id) {
    add_marker(CUPTI_ACTIVITY_FLAG_MARKER_END, static_cast<std::uint32_t>(id), nullptr);
}

}  // namespace

EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
    const auto* exports =
        static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
    NvtxFunctionTable table = nullptr;
    unsigned int size = 0;
    if (exports == nullptr ||
        exports->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) {
        return 0;
    }
    *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(&push);
    *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(&pop);
    *table[NVTX_CBID_CORE_RangeStartA] = reinterpret_cast<NvtxFunctionPointer>(&start_range);
    *table[NVTX_CBID_CORE_RangeEnd] = reinterpret_cast<NvtxFunctionPointer>(&end_range);
    if (exports->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) return 0;
    const auto take = [&](int id, auto function) {
        *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
    };
    take(NVTX_CBID_CORE2_DomainCreateA, &copy_of<nvtxDomainHandle_t>);
    take(
        NVTX_CBID_CORE2_DomainRegisterStringA,
        +[](nvtxDomainHandle_t, const char* text) { return copy_of<nvtxStringHandle_t>(text); });
    take(NVTX_CBID_CORE2_DomainRangePushEx, &push_in);
    take(
        NVTX_CBID_CORE2_DomainRangePop, +[](nvtxDomainHandle_t) { return pop(); });
    return 1;
}

EXPORT CUptiResult cuptiGetVersion(std::uint32_t* out) {
    *out = version();
    attach();
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
    *text = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
                ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
                : "CUPTI_ERROR_MOCKED";
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetErrorMessage(CUptiResult, const char** text) {
    *text = "An error that\n is mocked.";
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetTimestamp(std::uint64_t* time) {
    if (const CUptiResult code = may_call("cuptiGetTimestamp"); code != CUPTI_SUCCESS) return code;
    *time = now();
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* id) {
    *id = reinterpret_cast<std::uintptr_t>(node);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id,
                                        const char** name) {
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
        switch (id) {
            case CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel:
                *name = "cuLaunchKernel";
                return CUPTI_SUCCESS;
            case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
                *name = "cuGraphLaunch";
                return CUPTI_SUCCESS;
            case CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2:
                *name = "cuMemcpyHtoDAsync_v2";
                return CUPTI_SUCCESS;
            case CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async:
                *name = "cuMemsetD8Async";
                return CUPTI_SUCCESS;
            case CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize:
                *name = "cuCtxSynchronize";
                return CUPTI_SUCCESS;
            case CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2:
                *name = "cuMemAlloc_v2";
                return CUPTI_SUCCESS;
            case CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2:
                *name = "cuMemFree_v2";
                return CUPTI_SUCCESS;
            case CUPTI_DRIVER_TRACE_CBID_cuMemCreate:
                *name = "cuMemCreate";
                return CUPTI_SUCCESS;
            case CUPTI_DRIVER_TRACE_CBID_cuEventQuery:
                *name = "cuEventQuery";
                return CUPTI_SUCCESS;
            case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2:
                *name = "cuStreamBeginCapture_v2";
                return CUPTI_SUCCESS;
            default:
                *name = "cuOther";
                return id < driver_calls ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
        }
    }
    return CUPTI_ERROR_INVALID_PARAMETER;
}

namespace {

void initialise_driver() {
    if (auto* init = reinterpret_cast<int (*)(unsigned int)>(dlsym(RTLD_DEFAULT, "cuInit"))) {
        init(0);
    }
    void* library = dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
    if (auto* again = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))) again();
}

CUptiResult subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* user,
                      bool v2) {
    State& own = state();
    if (std::getenv("MOCK_SUBSCRIBE_INITIALISES") != nullptr) initialise_driver();
    if (std::getenv("MOCK_HOLDER") != nullptr) {
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    }
    const std::lock_guard lock(own.mutex);
    own.subscriber = callback;
    own.subscribed_v2 = v2;
    own.user = user;
    *handle = reinterpret_cast<CUpti_SubscriberHandle>(&own);
    return CUPTI_SUCCESS;
}

}  // namespace

EXPORT CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                                  void* user) {
    log_call("cuptiSubscribe");
    return subscribe(handle, callback, user, false);
}

#if MOCK_CUDA >= 1300
EXPORT CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                                     void* user, CUpti_SubscriberParams* parameters) {
    log_call("cuptiSubscribe_v2");
    if (const char* holder = std::getenv("MOCK_HOLDER"); holder != nullptr) {
        std::strncpy(parameters->oldSubscriberName, holder, parameters->oldSubscriberSize);
    }
    return subscribe(handle, callback, user, true);
}
#endif

EXPORT CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle,
                                       CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id >= driver_calls) {
        return CUPTI_ERROR_INVALID_PARAMETER;
    }
    const std::lock_guard lock(state().mutex);
    if (enable != 0) {
        state().callbacks.emplace(domain, id);
    } else {
        state().callbacks.erase({domain, id});
    }
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType) {
    log_call("cuptiSetThreadIdType");
    return may_call("cuptiSetThreadIdType");
}

EXPORT CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                  CUpti_BuffersCallbackCompleteFunc complete) {
    log_call("cuptiActivityRegisterCallbacks");
    if (const CUptiResult code = may_call("cuptiActivityRegisterCallbacks"); code != CUPTI_SUCCESS)
        return code;
    const std::lock_guard lock(state().mutex);
    state().request = request;
    state().complete = complete;
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
    log_call("cuptiActivityEnable");
    if (const CUptiResult code = may_call("cuptiActivityEnable"); code != CUPTI_SUCCESS)
        return code;
    const char* disabled = std::getenv("MOCK_DISABLED");
    if (disabled != nullptr && std::atoi(disabled) == kind) return CUPTI_ERROR_NOT_COMPATIBLE;
    {
        const std::lock_guard lock(state().mutex);
        state().kinds.insert(kind);
    }
    if (kind == CUPTI_ACTIVITY_KIND_DEVICE) {
        CUpti_ActivityDevice5 device{};
        device.kind = kind;
        device.name = "Mock GPU";
        const char* sms = std::getenv("MOCK_SMS");
        device.numMultiprocessors = sms == nullptr ? 4 : std::strtoul(sms, nullptr, 10);
        add(device);
    }
    if (kind == CUPTI_ACTIVITY_KIND_CONTEXT) {
        CUpti_ActivityContext3 context{};
        context.kind = kind;
        context.contextId = 1;
        context.nullStreamId = 7;
        add(context);
    }
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
    if (const CUptiResult code = may_call("cuptiActivityDisable"); code != CUPTI_SUCCESS)
        return code;
    const std::lock_guard lock(state().mutex);
    state().kinds.erase(kind);
    return CUPTI_SUCCESS;
}

#if MOCK_CUDA >= 1205
EXPORT CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, std::uint8_t) {
    if (const CUptiResult code = may_call("cuptiActivityEnableDriverApi"); code != CUPTI_SUCCESS)
        return code;
    const std::lock_guard lock(state().mutex);
    state().calls.emplace(CUPTI_CB_DOMAIN_DRIVER_API, id);
    state().kinds.insert(CUPTI_ACTIVITY_KIND_DRIVER);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId, std::uint8_t) {
    if (const CUptiResult code = may_call("cuptiActivityEnableRuntimeApi"); code != CUPTI_SUCCESS)
        return code;
    return CUPTI_SUCCESS;
}
#endif

EXPORT CUptiResult cuptiActivityFlushAll(std::uint32_t) {
    if (const CUptiResult code = may_call("cuptiActivityFlushAll"); code != CUPTI_SUCCESS)
        return code;
    const std::lock_guard lock(state().mutex);
    deliver();
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t bytes,
                                              CUpti_Activity** record) {
    if (const CUptiResult code = may_call("cuptiActivityGetNextRecord"); code != CUPTI_SUCCESS)
        return code;
    auto* next =
        *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + slot_bytes;
    if (next + slot_bytes > buffer + bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(next);
    return CUPTI_SUCCESS;
}

EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t,
                                                     std::size_t* dropped) {
    if (const CUptiResult code = may_call("cuptiActivityGetNumDroppedRecords");
        code != CUPTI_SUCCESS)
        return code;
    *dropped = 0;
    while (state().drop.strikes()) ++*dropped;
    return CUPTI_SUCCESS;
}

}  // namespace perfgate::mock
