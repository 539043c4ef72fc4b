// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/cuda_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "backend/cuda/event_timer.hpp"
#include "backend/cuda/executor.hpp"
#include "backend/cuda/nvtx.hpp"
#include "backend/cuda/occupancy.hpp"
#include "backend/cuda/subscriber.hpp"
#include "backend/plugin/plugin_instance.hpp"
#include "backend/plugin/verification.hpp"
#include "model/case.hpp"

namespace perfgate::backend::cuda {
namespace {

// Waiting now and then keeps the clock in step with the work, however long a launch takes.
constexpr int launches_per_wait = 8;

model::Kernel to_model(const OpenDevice& device, const KernelFacts& facts,
                       const ActivityRecord& record) {
    const auto signed_dims = [](const std::array<std::uint32_t, 3>& dims) {
        return std::array<std::int64_t, 3>{dims[0], dims[1], dims[2]};
    };
    model::Kernel kernel;
    kernel.name = facts.name;
    kernel.grid = signed_dims(facts.grid);
    kernel.block = signed_dims(facts.block);
    kernel.registers = facts.registers_per_thread;
    kernel.static_smem = facts.static_smem_bytes;
    kernel.dynamic_smem = facts.dynamic_smem_bytes;
    kernel.local_bytes = facts.local_bytes_per_thread;
    const Occupancy occupancy = theoretical_occupancy(device.facts(), facts);
    kernel.theoretical_occupancy = occupancy.percent;
    kernel.waves = waves(device.facts(), facts, occupancy);
    kernel.duration_ns = static_cast<double>(record.end_ns - record.start_ns);
    kernel.cluster = signed_dims(facts.cluster);
    if (facts.smem_carveout_percent >= 0) kernel.carveout = facts.smem_carveout_percent;
    kernel.cooperative = facts.cooperative;
    return kernel;
}

void set_code(const LoadedFunction& loaded, model::Kernel& kernel) {
    kernel.code = loaded.fingerprint;
    kernel.code_bytes = loaded.code_bytes;
    kernel.stack_bytes = loaded.stack_bytes;
    std::error_code no_folder;
    kernel.source = model::relative_to(std::filesystem::current_path(no_folder), loaded.place);
}

/// Local memory per thread, as compiled: kernel records report 0 if the driver has already
/// allocated enough local memory (seen with CUPTI 130001).
std::int64_t local_bytes_of(CUfunction function) {
    int bytes = 0;
    const CUfunction of_context = function_of_context(function);
    if (of_context == nullptr) return 0;
    const CUresult code =
        driver().cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, of_context);
    return code == CUDA_SUCCESS ? bytes : 0;
}

}  // namespace

void guarded(const PrimaryContext& context, const std::function<void()>& work) {
    try {
        context.make_current();
        work();
    } catch (const CudaError& error) {
        if (error.sticky()) throw measure::DeviceLost(error.what());
        throw;
    } catch (const PluginError& error) {
        const CUresult code = driver().cuCtxSynchronize();
        if (code == CUDA_SUCCESS) throw measure::DeviceLost(error.what());
        throw measure::DeviceLost("{} ({})", error.what(), describe(code));
    }
}

CudaCase::~CudaCase() {
    // The plugin frees memory that queued work may still use.
    driver().cuCtxSynchronize();
    device_.persisting_l2().restore();
}

void CudaCase::enqueue_reset() {
    instance_->reset(device_.stream());
}
void CudaCase::prepare_cold() {
    enqueue_reset();
    if (!device_.persisting_l2().in_use()) return;
    device_.context().synchronize();
    device_.persisting_l2().release();
}
void CudaCase::prepare(model::Cache cache) {
    if (cache == model::Cache::cold) {
        prepare_cold();
        device_.flush()(device_.stream());
    } else {
        enqueue_reset();
    }
}

void CudaCase::enqueue_launch() {
    instance_->launch(device_.stream());
}

void CudaCase::add_work(double ns) {
    // Compiles and calibrates its kernel now; otherwise the first timed launch would include that.
    guarded(device_.context(), [&] { device_.added_work(); });
    added_ns_ = ns;
}

void CudaCase::enqueue_timed(CUstream stream) {
    instance_->launch(stream);
    if (added_ns_ > 0) device_.added_work()(stream, added_ns_);
}
bool CudaCase::needs_reset() const {
    return instance_->needs_reset();
}

std::uint32_t CudaCase::given_stream_id() const {
    std::uint32_t id = 0;
    check(cupti::own().cuptiGetStreamIdEx(device_.context().get(), device_.stream(), 0, &id),
          "cannot identify the stream");
    return id;
}

std::vector<std::string> CudaCase::notes_on(const LaunchActivity& launch) const {
    std::vector<std::string> notes;
    if (device_.persisting_l2().in_use()) {
        notes.push_back(fmt::format(
            "keeps lines in the L2 cache (persisting accesses, {:.1f} MiB reserved): they are "
            "released before each timed cold launch, but counters still find them in the cache",
            static_cast<double>(device_.persisting_l2().bytes()) / (1 << 20)));
    }
    // How the nodes of a graph are spread over streams is the driver's business.
    const std::uint32_t given = given_stream_id();
    const auto elsewhere = std::ranges::count_if(launch.records, [&](const ActivityRecord& one) {
        return one.graph_node_id == 0 && one.stream_id != given;
    });
    if (elsewhere > 0) {
        notes.push_back(fmt::format(
            "{} of {} kernels, copies and memsets ran on other streams, not on the given one: "
            "gpu_time includes them, gpu_span only if that stream waits for them",
            elsewhere, launch.records.size()));
    }
    return notes;
}

void CudaCase::fill(std::uint64_t seed) {
    guarded(device_.context(), [&] {
        instance_->fill(seed);
        device_.context().synchronize();
    });
}

std::optional<measure::Prepared> CudaCase::prepared() {
    std::optional<measure::Prepared> prepared;
    guarded(device_.context(), [&] { prepared = instance_->prepared(); });
    return prepared;
}

measure::Verified CudaCase::verify(std::uint64_t seed, const measure::Checks& checks) {
    measure::Verified verified;
    guarded(device_.context(), [&] {
        const NvtxRange range("verify");
        CudaExecutor executor(device_.context(), device_.stream());
        verified = backend::verify(*instance_, executor, seed, checks);
        device_.context().synchronize();
    });
    return verified;
}

void CudaCase::warm_up(int launches, std::chrono::duration<double> at_least) {
    guarded(device_.context(), [&] {
        const NvtxRange range("warm-up");
        const auto launch = [&](int count) {
            for (int i = 0; i < count; ++i) {
                enqueue_reset();
                enqueue_launch();
            }
            device_.context().synchronize();
        };
        launch(1);  // which may load the code
        const auto start = std::chrono::steady_clock::now();
        Pace pace;
        for (int done = 1;
             done < launches || std::chrono::steady_clock::now() - start < at_least;) {
            // Few at first: a long one is warm soon.
            const int count = std::min(done, launches_per_wait);
            launch(count);
            pace.rest();
            done += count;
        }
    });
}

measure::LaunchRecord CudaCase::record_launch() {
    measure::LaunchRecord result;
    if (!device_.wants_cupti()) return result;
    device_.require_cupti("kernel records");
    guarded(device_.context(), [&] {
        const NvtxRange range("dry");
        ActivityRecorder recorder;
        recorder.launch([&] { enqueue_reset(); });
        std::vector<ObservedLaunch> launches;
        recorder.launch([&] { launches = device_.launches_made_by([&] { enqueue_launch(); }); });
        const ActivityTrace trace = recorder.finish();
        if (trace.dropped + trace.without_time != 0) {
            throw util::Error("CUPTI dropped {} activity records and gave {} no time",
                              trace.dropped, trace.without_time);
        }
        const LaunchActivity& reset = trace.launches.at(0);
        const LaunchActivity& launch = trace.launches.at(1);
        require_records(launches, launch);
        std::vector<std::string> symbols;
        for (const ActivityRecord& record : launch.records) {
            switch (record.kind) {
                case ActivityKind::kernel:
                    result.kernels.push_back(
                        to_model(device_, trace.kernels.at(record.kernel), record));
                    symbols.push_back(trace.kernels.at(record.kernel).symbol);
                    break;
                case ActivityKind::copy:
                case ActivityKind::memset:
                    result.memory_operations.push_back(record.memory);
                    break;
            }
        }
        // Graph nodes have no launch call; they keep what the record says.
        const bool launched_each = launches.size() == result.kernels.size();
        launched_functions_.clear();
        for (std::size_t i = 0; i < symbols.size(); ++i) {
            const CUfunction function = launched_each ? launches[i].function : nullptr;
            LoadedFunction code = device_.loaded_function(symbols[i], function);
            set_code(code, result.kernels[i]);
            launched_functions_.push_back(
                {std::move(symbols[i]), std::move(code), result.kernels[i].name});
        }
        if (launched_each) {
            for (std::size_t i = 0; i < launches.size(); ++i) {
                model::Kernel& kernel = result.kernels[i];
                kernel.local_bytes =
                    std::max(kernel.local_bytes, local_bytes_of(launches[i].function));
                kernel.arguments = std::move(launches[i].arguments.whole);
                kernel.argument_words = std::move(launches[i].arguments.words);
            }
        }
        result.notes = notes_on(launch);
        if (!trace.outside.empty()) {
            result.notes.push_back(
                fmt::format("{} kernels, copies and memsets ran that the launching thread did not "
                            "submit: gpu_time leaves them out",
                            trace.outside.size()));
        }
        operations_ = reset.records.size() + launch.records.size();
        reset_kernels_ = reset.kernel_count();
    });
    return result;
}

/// The stream is empty, so that a full queue delays nothing.
measure::TimeSamples CudaCase::time_submission(int count) {
    if (device_.has_cupti()) {
        throw util::Error("submit_time: CUPTI is on in this process, which slows launches");
    }
    const NvtxRange range("submit_time");
    measure::TimeSamples samples;
    samples.method = {model::wall_source, "idle-stream/untraced"};
    Pace pace;
    for (int i = 0; i < count; ++i) {
        enqueue_reset();
        device_.context().synchronize();
        const auto before = std::chrono::steady_clock::now();
        enqueue_launch();
        const std::chrono::duration<double, std::nano> spent =
            std::chrono::steady_clock::now() - before;
        samples.values_ns.push_back(spent.count());
        device_.context().synchronize();
        pace.rest();
    }
    return samples;
}

measure::TimeSamples CudaCase::time(measure::TimeKind kind, model::Cache cache, int count) {
    measure::TimeSamples samples;
    guarded(device_.context(), [&] {
        switch (kind) {
            case measure::TimeKind::gpu_time:
                samples = time_records(cache, count);
                break;
            case measure::TimeKind::gpu_span:
                samples = time_events(cache, count);
                break;
            case measure::TimeKind::host_time:
                throw util::Error("host_time is of host variants; this one runs on the GPU");
            case measure::TimeKind::submit_time:
                samples = time_submission(count);
                break;
        }
    });
    return samples;
}

measure::TimeSamples CudaCase::time_records(model::Cache cache, int count) {
    device_.require_cupti("gpu_time");
    const bool cold = cache == model::Cache::cold;
    const NvtxRange range(cold ? "gpu_time cold" : "gpu_time hot");
    ActivityRecorder recorder;
    Pace pace;
    for (int i = 0; i < count; ++i) {
        prepare(cache);
        recorder.launch([&] { enqueue_timed(device_.stream()); });
        device_.context().synchronize();
        pace.rest();
    }
    const ActivityTrace trace = recorder.finish();
    if (trace.dropped + trace.without_time != 0) {
        throw util::Error("gpu_time: CUPTI dropped {} activity records and gave {} no time",
                          trace.dropped, trace.without_time);
    }
    measure::TimeSamples samples;
    samples.method = {model::activity_source, "", cold ? model::Cache::cold : model::Cache::hot};
    for (const LaunchActivity& launch : trace.launches) {
        if (launch.records.empty()) {
            throw util::Error(
                "gpu_time: a launch left no kernel, copy or memset record: does the variant launch "
                "from another thread?");
        }
        samples.values_ns.push_back(launch.gpu_time_ns());
    }
    require_equal_launches(trace.launches);
    if (const std::size_t missed = unattributed_records(trace); missed > 0) {
        samples.note = fmt::format(
            "gpu_time: {} kernels, copies and memsets began during timed launches and belong to "
            "none of them (submitted by another thread?): it leaves them out",
            missed);
    }
    return samples;
}

measure::TimeSamples CudaCase::time_events(model::Cache cache, int count) {
    const bool cold = cache == model::Cache::cold;
    // A process that only takes times has recorded nothing, and the method depends on what a launch
    // enqueues.
    if (operations_ == 0 && device_.has_cupti()) record_launch();
    const NvtxRange range(cold ? "gpu_span cold" : "gpu_span hot");
    TimingRequest request;
    request.launch = [this](CUstream stream) { enqueue_timed(stream); };
    if (cold && device_.persisting_l2().in_use()) {
        request.prepare = [this] { prepare_cold(); };
    } else if (instance_->needs_reset()) {
        request.reset = [this](CUstream stream) { instance_->reset(stream); };
    }
    request.cold = cold;
    // Tools that serialise launches (the reason for --no-cupti) wait for each kernel: no launch
    // returns while the stream is blocked.
    request.async = device_.wants_cupti() && instance_->submission() != PG_SYNCHRONOUS;
    request.count = static_cast<std::size_t>(std::max(count, 0));
    request.operations = operations_ == 0 || added_ns_ <= 0 ? operations_ : operations_ + 1;
    EventTimer timer(device_.stream(), device_.blocker(), device_.flush());
    EventSamples samples = timer.measure(request);
    return {.method = std::move(samples.method), .values_ns = std::move(samples.spans_ns)};
}

}  // namespace perfgate::backend::cuda
