// SPDX-License-Identifier: Apache-2.0
// The abstract Backend: how a worker sets up cases, times them and reads counters. Implemented by
// backend/host and backend/cuda; this header knows neither.
//
// All functions throw util::Error (one line, with the place and the remedy). After a DeviceLost
// the worker process must end: the device context cannot be used again.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/case.hpp"
#include "model/catalogue.hpp"
#include "model/choices.hpp"
#include "model/environment.hpp"
#include "model/kernel_code.hpp"
#include "model/run.hpp"
#include "model/source_kernel.hpp"
#include "util/error.hpp"

struct pg_plugin;  // sdk/perfgate.h

namespace perfgate::measure {

/// An error after which this process must not run anything else.
class DeviceLost : public util::Error {
  public:
    using Error::Error;
};

/// What a single launch did, from kernel records (CUDA with CUPTI), or nothing.
struct LaunchRecord {
    std::vector<model::Kernel> kernels;                     ///< in launch order; `metrics` empty
    std::vector<model::MemoryOperation> memory_operations;  ///< by start time
    std::vector<std::string> notes = {};                    ///< as CaseResult::notes
};

/// The code of a variant that runs on the host.
struct HostCode {
    std::string modules;  ///< fingerprint of the plugin's files; empty: unknown
    /// What they link or have loaded so far; nothing: unknown.
    std::optional<model::Libraries> libraries;
};

/// Time samples of one kind. `values_ns` has one entry per launch.
struct TimeSamples {
    model::Method method;
    std::vector<double> values_ns;
    std::string note = {};  ///< as one of CaseResult::notes; empty: none
};

/// What can be timed. gpu_time: union of busy intervals of a launch's records. gpu_span: event
/// pair, activity off. host_time: wall time of a host variant's launch. submit_time: wall time of
/// a CUDA variant's launch call in an idle stream.
enum class TimeKind { gpu_time, gpu_span, host_time, submit_time };

class Case;

/// What a source of metrics (measure/sources.hpp) asks of a case apart from its times.
struct ReadingRequest {
    std::string name;        ///< "energy": as metrics of the catalogue name it
    Case* opened = nullptr;  ///< set up and launched before; null: nothing is set up
    const model::CaseSpec& spec;
    const model::SourceKernel* source = nullptr;  ///< of a source's case
    std::uint64_t seed = 0;                       ///< of the inputs
};

struct Reading {
    struct Value {
        double value = 0;
        std::string detail = {};   ///< as MetricSeries::detail
        std::string problem = {};  ///< why there is no value, with the remedy; empty: there is
    };
    std::string problem;  ///< why there are no values, with the remedy; empty: there are
    model::Method method;
    std::map<std::string, Value> values;  ///< by metric, in its unit
    model::BoardState board;              ///< while it was taken, if the board matters
    std::string note;                     ///< on the values; empty: nothing
};

/// With what verifying compares the outputs of a launch.
struct Checks {
    bool reference = true;  ///< false: the case has none
    /// Bit for bit, with the outputs of launches that have the same inputs: once more, and where
    /// the launch can be captured by a CUDA graph.
    bool repeats = false;
};

struct Verified {
    model::Verification verification;
    std::string note = {};  ///< as one of CaseResult::notes; empty: none
};

/// What a process compiled and tuned before it measured a case.
struct Prepared {
    double time_ns = 0;  ///< the longest
    model::Choices choices = {};
};

/// One case, set up: memory allocated, nothing launched yet. Destroying it frees everything.
class Case {
  public:
    virtual ~Case() = default;

    /// Generates the inputs for `seed` and poisons the output.
    virtual void fill(std::uint64_t seed) = 0;

    /// Fills with `seed`, launches and checks the outputs. Throws if `repeats` are asked for and
    /// the case names no outputs.
    virtual Verified verify(std::uint64_t seed, const Checks& checks) = 0;

    /// Launches (with resets if the workload needs them) until both bounds are reached; waits. On
    /// a GPU a rest follows if `at_least` is not 0, because times are measured next.
    virtual void warm_up(int launches, std::chrono::duration<double> at_least) = 0;

    /// The kernels of one launch. With CUPTI off, empty. With an NVTX range "dry".
    virtual LaunchRecord record_launch() = 0;

    /// `count` samples. The inputs are those of the last fill. Does not warm up.
    virtual TimeSamples time(TimeKind kind, model::Cache cache, int count) = 0;

    /// From now on, each timed launch is followed by this much work on the same device, ns; 0:
    /// none. A self-test uses this to slow down a case by a known amount.
    virtual void add_work(double ns) = 0;

    /// What a launch does, if only the case itself can state it. Callable after a fill.
    virtual model::Work work() { return {}; }

    /// Compiles and tunes after a fill; otherwise the first launch does. Nothing: it compiles
    /// nothing.
    virtual std::optional<Prepared> prepared() { return std::nullopt; }
};

/// Counter values of one case: for each kernel in launch order, raw counter name to value.
struct CounterValues {
    std::vector<std::string> kernels;  ///< demangled names, in launch order
    std::vector<std::map<std::string, double>> values;
    std::vector<model::NotCollected> not_collected;  ///< by raw counter name
    model::Method method;
};

struct CounterCase {
    Case* opened = nullptr;
    model::Cache cache = model::Cache::cold;
    std::vector<std::string> expected_kernels;  ///< from record_launch
    bool graph = false;                         ///< submission is `graph`
    bool own_session = false;                   ///< must not share a session
};

/// What a backend can do on this machine; also what `describe` reports.
struct Capabilities {
    model::Environment environment;
    model::WorkloadCatalogue workloads;
    bool timing = false;                 ///< there is a device
    bool kernel_records = false;         ///< launches can be recorded, and gpu_time measured
    std::string kernel_records_problem;  ///< why not, with the remedy
    model::Libraries libraries;          ///< that the plugins link
};

/// What a plugin reports about a case without setting it up.
struct CaseFacts {
    std::string unsupported;         ///< why the variant cannot run these parameters; empty: it can
    std::uint64_t memory_bytes = 0;  ///< approximate device memory that the case allocates
    model::Work work;
    bool needs_reset = false;  ///< the launch changes its inputs
};

/// A line of `perfgate doctor`.
struct Diagnosis {
    enum class Level { ok, warning, problem };
    Level level = Level::ok;
    std::string topic;   ///< "driver", "counter permission"
    std::string detail;  ///< what was found
    std::string remedy;  ///< empty when ok
};

std::string_view to_text(Diagnosis::Level level);

struct BackendOptions {
    std::string device;                ///< a device: "" the first; index, UUID or PCI bus id
    std::vector<std::string> plugins;  ///< files to load
    /// Loaded after them, without the workloads whose names these have.
    std::vector<std::string> bundled{};
    bool cupti = true;  ///< false: events only, other tools may attach
    /// Called with each plugin file before it is loaded, which runs its static initialisers, and
    /// with "" once all are loaded. May be empty.
    std::function<void(const std::string& file)> loading{};
    /// Runs a plugin that is a script (.py); null if that failed, and `said` is why. Otherwise
    /// `said` changes with the user's files that it imports: "" if there are none,
    /// `unknown_imports` if they cannot be known. Empty: this process has no interpreter.
    std::function<const pg_plugin*(const std::string& file, std::string& said)> scripts{};
    static constexpr const char* unknown_imports = "unknown";
};

class Backend {
  public:
    virtual ~Backend() = default;

    virtual Capabilities capabilities() = 0;
    virtual model::BoardState board_state() = 0;
    /// Measures the device's ceilings, in about a second. By default there are none.
    virtual model::Ceilings ceilings() { return {}; }
    virtual std::vector<Diagnosis> diagnose() = 0;

    /// Parameters not in `spec.params` take the workload's defaults.
    virtual CaseFacts facts(const model::CaseSpec& spec) = 0;
    /// From now on, the machine code that cases load is kept for Case::record_launch. This takes a
    /// while with large libraries, so processes that record nothing do not call it. No-op by
    /// default.
    virtual void keep_code() {}
    virtual std::unique_ptr<Case> open(const model::CaseSpec& spec) = 0;
    /// The same for a source's kernel. By default there is no device that could run it.
    virtual std::unique_ptr<Case> open_source(const model::SourceKernel& /*kernel*/) {
        throw util::Error("a source's kernel needs a GPU: use the CUDA backend");
    }
    /// By default there is none.
    virtual Reading read(const ReadingRequest& request) {
        Reading reading;
        reading.problem = "this backend has no reading '" + request.name +
                          "': leave its metrics out of 'metrics'";
        return reading;
    }
    /// Disassembles the kernels of a case whose launch is recorded, and samples where further
    /// launches spend their time. The result says what cannot be had; by default nothing can.
    virtual model::CaseCode machine_code(Case& /*opened*/, model::Cache /*cache*/) {
        model::CaseCode code;
        code.problem = "this backend has no machine code to disassemble";
        return code;
    }
    /// Call it after a launch, so that it includes what the launch loads.
    virtual HostCode host_code(const model::CaseSpec& spec) = 0;
    /// Bytes of device memory that are available to cases now.
    virtual std::uint64_t free_memory() = 0;

    /// Why no counters can be collected here, with the remedy; empty: they can. The first call sets
    /// up the profiler, which takes up to a second, so a process takes its times first.
    virtual std::string counters_problem() = 0;
    /// Whether this device has a counter of this name (with its rollup). This and `collect` require
    /// that counters_problem() is empty.
    virtual bool has_counter(const std::string& counter) = 0;

    /// The counters of every case, collected in as few sessions as possible. The cases are filled
    /// and warmed up. One entry per case, in order. A case whose kernels differ from the expected
    /// ones has every counter in not_collected.
    virtual std::vector<CounterValues> collect(std::span<const CounterCase> cases,
                                               const std::vector<std::string>& counters) = 0;

    /// Marks a phase for external tools (an NVTX range). No-op by default.
    virtual void begin_range(const std::string& /*name*/) {}
    virtual void end_range() {}
};

/// What chips can measure, without a device: the CUPTI Host API.
class CounterCatalogue {
  public:
    virtual ~CounterCatalogue() = default;
    virtual std::vector<std::string> chips() = 0;
    virtual bool exists(const std::string& chip, const std::string& counter) = 0;
    /// Passes that these counters take together on the chip; throws naming one that does not exist.
    virtual std::size_t passes(const std::string& chip,
                               const std::vector<std::string>& counters) = 0;
    struct Description {
        std::string text, unit;
    };
    virtual Description describe(const std::string& chip, const std::string& counter) = 0;
};

/// A device that can be selected, described without opening it.
struct ListedDevice {
    std::string id;  ///< what BackendOptions::device takes
    model::Device device;
    std::string uuid = {};  ///< what CUDA_VISIBLE_DEVICES takes: "GPU-…", "MIG-…"; empty: no GPU
};

/// A backend module (a shared library) exports these with C linkage. ListDevices appends the
/// devices that `wanted` names: "" for the first, "all", or a comma-separated list of what
/// BackendOptions::device takes. Throws util::InputError if one does not exist.
using CreateBackend = Backend*(const BackendOptions&);
using ListDevices = void(const std::string& wanted, std::vector<ListedDevice>& devices);
/// Loads the plugins and runs the scripts among them, before a backend does. True if that has
/// opened a device.
using LoadPlugins = bool(const BackendOptions&);
using CreateCounterCatalogue = CounterCatalogue*();
inline constexpr const char* create_backend_symbol = "perfgate_create_backend";
inline constexpr const char* list_devices_symbol = "perfgate_list_devices";
inline constexpr const char* load_plugins_symbol = "perfgate_load_plugins";
inline constexpr const char* create_counter_catalogue_symbol = "perfgate_create_counter_catalogue";

}  // namespace perfgate::measure
