// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/activity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

#include "backend/cuda/driver.hpp"
#include "backend/cuda/subscriber.hpp"
#include "model/interval.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::backend::cuda {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr std::size_t buffer_alignment = 8;  // required by CUPTI
constexpr auto external_kind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;

// The requested record kinds. An external correlation record comes with the record of the API call
// that the application made, which may be a driver or a runtime call; it only comes if that kind is
// enabled, so both are.
constexpr std::array recorded_kinds{
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_DRIVER,
    CUPTI_ACTIVITY_KIND_RUNTIME,
    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
};

struct Buffer {
    struct Free {
        void operator()(std::uint8_t* bytes) const { std::free(bytes); }
    };
    std::unique_ptr<std::uint8_t, Free> memory;
    std::size_t valid_bytes = 0;
    CUcontext context = nullptr;
    std::uint32_t stream_id = 0;
};

// CUPTI's callbacks have no user pointer, so what they fill is global. The lock is only held for a
// push or a swap, never during a call into CUPTI.
struct Buffers {
    std::mutex mutex;
    std::vector<Buffer> full;
    std::vector<Buffer> spare;
};

Buffers& buffers() {
    static auto* instance =
        new Buffers;  // outlives CUPTI's worker thread, which may call until the end
    return *instance;
}

std::atomic<bool> recorder_exists{false};
std::atomic<std::uint64_t> next_id{1};

void CUPTIAPI request_buffer(std::uint8_t** buffer, std::size_t* bytes,
                             std::size_t* max_records) noexcept {
    *max_records = 0;  // as many as fit
    *bytes = buffer_bytes;
    *buffer = nullptr;
    {
        const std::lock_guard lock(buffers().mutex);
        if (!buffers().spare.empty()) {
            *buffer = buffers().spare.back().memory.release();
            buffers().spare.pop_back();
        }
    }
    if (*buffer == nullptr) {
        *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_bytes));
    }
    if (*buffer == nullptr) *bytes = 0;  // CUPTI drops records and counts them
}

void CUPTIAPI complete_buffer(CUcontext context, std::uint32_t stream_id, std::uint8_t* buffer,
                              std::size_t, std::size_t valid_bytes) noexcept {
    Buffer entry;
    entry.memory.reset(buffer);
    entry.valid_bytes = valid_bytes;
    entry.context = context;
    entry.stream_id = stream_id;
    try {
        const std::lock_guard lock(buffers().mutex);
        buffers().full.push_back(std::move(entry));
    } catch (const std::bad_alloc&) {
        // The records are lost, which shows as launches without records.
    }
}

std::vector<Buffer> take_full_buffers() {
    const std::lock_guard lock(buffers().mutex);
    return std::exchange(buffers().full, {});
}

void give_back(std::vector<Buffer> used) {
    const std::lock_guard lock(buffers().mutex);
    for (Buffer& buffer : used) buffers().spare.push_back(std::move(buffer));
}

// A record that is not yet assigned to a launch: CUPTI writes correlation and activity records into
// buffers in no particular order.
struct Pending {
    std::uint32_t correlation_id = 0;
    ActivityRecord record;
};

class Parser {
  public:
    explicit Parser(ActivityTrace& trace) : trace_(trace) {}

    void parse(const CUpti_Activity* record) {
        switch (record->kind) {
            case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
            case CUPTI_ACTIVITY_KIND_KERNEL:
                add_kernel(*reinterpret_cast<const CUpti_ActivityKernel10*>(record));
                break;
            case CUPTI_ACTIVITY_KIND_MEMCPY:
                add_copy(*reinterpret_cast<const CUpti_ActivityMemcpy6*>(record));
                break;
            case CUPTI_ACTIVITY_KIND_MEMCPY2:
                add_copy(*reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record));
                break;
            case CUPTI_ACTIVITY_KIND_MEMSET: {
                const auto& filled = *reinterpret_cast<const CUpti_ActivityMemset4*>(record);
                add(filled, ActivityKind::memset,
                    {.kind = model::MemoryOperationKind::memset,
                     .bytes = static_cast<std::int64_t>(filled.bytes),
                     .to = model::memory_kind_of(filled.memoryKind)});
                break;
            }
            case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
                const auto& link =
                    *reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
                if (link.externalKind == external_kind) {
                    launch_of_[link.correlationId] = link.externalId;
                }
                break;
            }
            default:
                break;
        }
    }

    void assign(std::uint64_t first_id, std::uint64_t launches) {
        trace_.launches.resize(launches);
        for (const Pending& pending : pending_) {
            const auto link = launch_of_.find(pending.correlation_id);
            if (link == launch_of_.end() || link->second < first_id ||
                link->second >= first_id + launches) {
                trace_.outside.push_back(pending.record);
                continue;
            }
            trace_.launches[link->second - first_id].records.push_back(pending.record);
        }
        for (LaunchActivity& launch : trace_.launches) {
            std::ranges::stable_sort(launch.records, {}, &ActivityRecord::start_ns);
        }
    }

  private:
    template <typename Record>
    bool keep(const Record& record, ActivityRecord& out) {
        if (record.start == 0 && record.end == 0) {
            ++trace_.without_time;
            return false;
        }
        out.start_ns = record.start;
        out.end_ns = record.end;
        out.graph_node_id = record.graphNodeId;
        return true;
    }

    template <typename Record>
    void add_copy(const Record& record) {
        add(record, ActivityKind::copy,
            {.kind = model::operation_kind_of(record.copyKind),
             .bytes = static_cast<std::int64_t>(record.bytes),
             .from = model::memory_kind_of(record.srcKind),
             .to = model::memory_kind_of(record.dstKind)});
    }

    template <typename Record>
    void add(const Record& record, ActivityKind kind, const model::MemoryOperation& memory) {
        ActivityRecord out{.kind = kind};
        if (!keep(record, out)) return;
        out.memory = memory;
        out.stream_id = record.streamId;
        pending_.push_back({record.correlationId, out});
    }

    void add_kernel(const CUpti_ActivityKernel10& record) {
        ActivityRecord out{.kind = ActivityKind::kernel};
        if (!keep(record, out)) return;
        out.stream_id = record.streamId;
        out.kernel = intern(facts(record));
        pending_.push_back({record.correlationId, out});
    }

    static KernelFacts facts(const CUpti_ActivityKernel10& record) {
        const auto size = [](std::int32_t value) { return static_cast<std::uint32_t>(value); };
        KernelFacts facts;
        facts.symbol = record.name != nullptr ? record.name : "";
        facts.grid = {size(record.gridX), size(record.gridY), size(record.gridZ)};
        facts.block = {size(record.blockX), size(record.blockY), size(record.blockZ)};
        facts.cluster = {record.clusterX, record.clusterY, record.clusterZ};
        facts.registers_per_thread = record.registersPerThread;
        facts.static_smem_bytes = size(record.staticSharedMemory);
        facts.dynamic_smem_bytes = size(record.dynamicSharedMemory);
        facts.local_bytes_per_thread = record.localMemoryPerThread;
        facts.smem_optin = record.shmemLimitConfig == CUPTI_FUNC_SHMEM_LIMIT_OPTIN;
        if (record.isSharedMemoryCarveoutRequested != 0) {
            facts.smem_carveout_percent = record.sharedMemoryCarveoutRequested;
        }
        facts.cooperative = record.launchType != CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR;
        return facts;
    }

    // Launches use few different kernels, so a linear search is enough.
    std::size_t intern(KernelFacts facts) {
        std::string& name = name_of_[facts.symbol];
        if (name.empty()) name = util::demangled(facts.symbol);
        facts.name = name;
        const auto known = std::ranges::find(trace_.kernels, facts);
        if (known != trace_.kernels.end()) {
            return static_cast<std::size_t>(known - trace_.kernels.begin());
        }
        trace_.kernels.push_back(std::move(facts));
        return trace_.kernels.size() - 1;
    }

    ActivityTrace& trace_;
    std::vector<Pending> pending_;
    std::unordered_map<std::uint32_t, std::uint64_t> launch_of_;  // correlation id → external id
    std::unordered_map<std::string, std::string> name_of_;        // symbol → demangled
};

void disable_all() {
    for (const CUpti_ActivityKind kind : recorded_kinds) cupti::own().cuptiActivityDisable(kind);
}

}  // namespace

double LaunchActivity::gpu_time_ns() const {
    std::vector<model::Interval> intervals;
    intervals.reserve(records.size());
    for (const ActivityRecord& record : records) {
        intervals.push_back({record.start_ns, record.end_ns});
    }
    return static_cast<double>(model::IntervalSet(std::move(intervals)).length());
}

std::size_t LaunchActivity::kernel_count() const {
    return static_cast<std::size_t>(
        std::ranges::count(records, ActivityKind::kernel, &ActivityRecord::kind));
}

ActivityRecorder::ActivityRecorder() {
    if (recorder_exists.exchange(true)) {
        throw util::Error("device activity is being recorded already in this process");
    }
    try {
        check(cupti::own().cuptiActivityRegisterCallbacks(&request_buffer, &complete_buffer),
              "cannot record device activity");
        for (const CUpti_ActivityKind kind : recorded_kinds) {
            check(cupti::own().cuptiActivityEnable(kind),
                  fmt::format("cannot record device activity of kind {}", static_cast<int>(kind)));
        }
    } catch (...) {
        disable_all();
        recorder_exists = false;
        throw;
    }
    first_id_ = next_id;
}

ActivityRecorder::~ActivityRecorder() {
    driver().cuCtxSynchronize();
    disable_all();
    cupti::own().cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    give_back(take_full_buffers());
    recorder_exists = false;
}

void ActivityRecorder::launch(const std::function<void()>& submit) {
    struct Pop {
        ~Pop() {
            std::uint64_t last = 0;
            cupti::own().cuptiActivityPopExternalCorrelationId(external_kind, &last);
        }
    };
    check(cupti::own().cuptiActivityPushExternalCorrelationId(external_kind, next_id),
          "cannot mark a launch's activity");
    ++next_id;
    ++launches_;
    const Pop pop;
    submit();
}

ActivityTrace ActivityRecorder::finish() {
    // The flush does not wait for the device: records of work that is still running would come late
    // or without times.
    check(driver().cuCtxSynchronize(), "work on the device failed");
    check(cupti::own().cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED),
          "cannot fetch the activity records");

    ActivityTrace trace;
    Parser parser(trace);
    std::vector<Buffer> full = take_full_buffers();
    for (const Buffer& buffer : full) {
        CUpti_Activity* record = nullptr;
        CUptiResult code = CUPTI_SUCCESS;
        while ((code = cupti::own().cuptiActivityGetNextRecord(
                    buffer.memory.get(), buffer.valid_bytes, &record)) == CUPTI_SUCCESS) {
            parser.parse(record);
        }
        if (code != CUPTI_ERROR_MAX_LIMIT_REACHED) check(code, "cannot read the activity records");
        std::size_t dropped = 0;
        check(cupti::own().cuptiActivityGetNumDroppedRecords(buffer.context, buffer.stream_id,
                                                             &dropped),
              "cannot count the dropped activity records");
        trace.dropped += dropped;
    }
    give_back(std::move(full));
    parser.assign(std::exchange(first_id_, next_id.load()), std::exchange(launches_, 0));
    return trace;
}

void require_records(std::span<const ObservedLaunch> launches, const LaunchActivity& launch) {
    const auto made = std::ranges::count_if(
        launches, [](const ObservedLaunch& observed) { return !observed.captured; });
    const auto recorded = std::ranges::count_if(launch.records, [](const ActivityRecord& record) {
        return record.kind == ActivityKind::kernel && record.graph_node_id == 0;
    });
    if (recorded >= made) return;
    throw util::Error(
        "CUPTI recorded {} of the {} kernels that one launch of the case launches, so that "
        "gpu_time would be too short: launch them all from the thread that calls launch, or gate "
        "gpu_span with --no-cupti",
        recorded, made);
}

void require_equal_launches(std::span<const LaunchActivity> launches) {
    const auto [least, most] = std::ranges::minmax_element(
        launches, [](const LaunchActivity& one, const LaunchActivity& two) {
            return one.records.size() < two.records.size();
        });
    if (least == most || least->records.size() == most->records.size()) return;
    throw util::Error(
        "gpu_time: timed launches left between {} and {} records of kernels, copies and memsets. "
        "Either records were lost (measure again), or the variant does not do the same work in "
        "each launch (gate gpu_span with --no-cupti)",
        least->records.size(), most->records.size());
}

std::size_t unattributed_records(const ActivityTrace& trace) {
    std::size_t found = 0;
    for (const LaunchActivity& launch : trace.launches) {
        if (launch.records.empty()) continue;
        const std::uint64_t begin = launch.records.front().start_ns;
        std::uint64_t end = begin;
        for (const ActivityRecord& record : launch.records) end = std::max(end, record.end_ns);
        found += static_cast<std::size_t>(
            std::ranges::count_if(trace.outside, [&](const ActivityRecord& record) {
                return record.start_ns >= begin && record.start_ns < end;
            }));
    }
    return found;
}

}  // namespace perfgate::backend::cuda
