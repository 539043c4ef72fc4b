// SPDX-License-Identifier: Apache-2.0
// A Backend without device and plugin for tests of what measures with one: its variants do what a
// test says, and it writes down what it was asked.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "measure/backend.hpp"

namespace perfgate::measure::fakes {

/// Workload of all variants of a FakeBackend.
inline constexpr const char* workload = "fake";

/// What the cases of a variant do.
struct FakeVariant {
    model::Target target = model::Target::cuda;
    model::Submission submission = model::Submission::async;
    CaseFacts facts{};
    LaunchRecord launch{};
    HostCode host_code{"0057", model::Libraries{}};
    CounterValues counters{};
    std::map<std::string, Reading> readings{};  ///< by name; others are not known
    std::optional<Prepared> prepared{};
    std::string time_note{};  ///< of all times
    double time_ns = 1000;
    double spread_ns = 0;  ///< samples are this much above and below in turn
    bool gives_samples = true;
    bool correct = true;
    bool repeatable = true;     ///< repeats have the same outputs
    bool ignores_work = false;  ///< added work takes no time
    std::string note{};         ///< of verifying with repeats
    /// The call that throws util::Error: "open", "fill", "verify", "launch", "record" or "time".
    std::string fails_in{};
    bool loses_device = false;  ///< it throws DeviceLost instead
};

inline model::Kernel kernel(const std::string& name) {
    model::Kernel result;
    result.name = name;
    result.grid = result.block = {1, 1, 1};
    result.code = "c0de";
    return result;
}

/// Launches and least seconds of a warm-up.
using WarmUp = std::pair<int, double>;

class FakeCase : public Case {
  public:
    FakeCase(const FakeVariant& variant, std::vector<std::string>& calls,
             std::vector<WarmUp>& warm_ups)
        : variant_(variant), calls_(calls), warm_ups_(warm_ups) {
        called("open");
    }
    ~FakeCase() override { calls_.emplace_back("close"); }

    void fill(std::uint64_t seed) override {
        seed_ = seed;
        called("fill");
    }
    Verified verify(std::uint64_t seed, const Checks& checks) override {
        called(checks.repeats ? "verify repeats" : "verify");
        if (checks.repeats && !variant_.repeatable) return {{false, seed, "output 'y' differs"}};
        return {{variant_.correct, seed, variant_.correct ? "all elements" : "element 0"},
                checks.repeats ? variant_.note : ""};
    }
    void warm_up(int launches, std::chrono::duration<double> at_least) override {
        warm_ups_.emplace_back(launches, at_least.count());
        called("launch");
    }
    LaunchRecord record_launch() override {
        called("record");
        return variant_.launch;
    }
    TimeSamples time(TimeKind /*kind*/, model::Cache cache, int count) override {
        called("time");
        TimeSamples samples{"fake/" + std::string(model::to_text(cache)), {}, variant_.time_note};
        for (int i = 0; i < count && variant_.gives_samples; ++i) {
            const double apart = i % 2 == 0 ? variant_.spread_ns : -variant_.spread_ns;
            samples.values_ns.push_back(variant_.time_ns + added_ns_ + apart);
        }
        return samples;
    }
    std::optional<Prepared> prepared() override { return variant_.prepared; }
    void add_work(double ns) override { added_ns_ = variant_.ignores_work ? 0 : ns; }

    std::uint64_t seed() const { return seed_; }
    const FakeVariant& variant() const { return variant_; }

  private:
    void called(const std::string& what) {
        calls_.push_back(what);
        if (variant_.fails_in != what) return;
        if (variant_.loses_device) throw DeviceLost(what + " failed");
        throw util::Error(what + " failed");
    }

    const FakeVariant& variant_;
    std::vector<std::string>& calls_;
    std::vector<WarmUp>& warm_ups_;
    std::uint64_t seed_ = 0;
    double added_ns_ = 0;
};

class FakeBackend : public Backend {
  public:
    std::map<std::string, FakeVariant> variants;  ///< by name; add them before capabilities()
    bool kernel_records = true;
    std::string no_counters;                 ///< why none can be collected; empty: they can
    std::set<std::string> lacking_counters;  ///< that the chip does not have
    std::vector<std::string> calls;          ///< "keep_code", "open", "fill", … in order
    std::vector<WarmUp> warm_ups;
    std::vector<std::string> ranges;  ///< as they begin; "" where one ends
    /// Told one after the other, the last one for ever.
    std::vector<model::BoardState> board_states;
    std::vector<CounterCase> counter_cases;       ///< of the last collect()
    std::vector<std::string> collected_counters;  ///< of the last collect()
    bool loses_device_counting = false;
    model::Ceilings measured_ceilings;

    Capabilities capabilities() override {
        Capabilities result;
        result.environment.device.key = result.environment.device.chip = "fake";
        result.environment.device.board = "b1";
        model::WorkloadInfo info;
        info.name = workload;
        for (const auto& [name, variant] : variants) {
            model::VariantInfo entry;
            entry.name = name;
            entry.target = variant.target;
            entry.submission = variant.submission;
            info.variants.push_back(std::move(entry));
        }
        result.workloads = {std::move(info)};
        result.timing = true;
        result.kernel_records = kernel_records;
        if (!kernel_records) result.kernel_records_problem = "no records here";
        return result;
    }
    model::Ceilings ceilings() override { return measured_ceilings; }
    model::BoardState board_state() override {
        if (board_states.empty()) return {};
        const model::BoardState state = board_states.front();
        if (board_states.size() > 1) board_states.erase(board_states.begin());
        return state;
    }
    void begin_range(const std::string& name) override { ranges.push_back(name); }
    void end_range() override { ranges.emplace_back(); }
    std::vector<Diagnosis> diagnose() override { return {}; }

    CaseFacts facts(const model::CaseSpec& spec) override {
        return variants.at(spec.variant).facts;
    }
    void keep_code() override { calls.emplace_back("keep_code"); }
    std::unique_ptr<Case> open(const model::CaseSpec& spec) override {
        return std::make_unique<FakeCase>(variants.at(spec.variant), calls, warm_ups);
    }
    std::unique_ptr<Case> open_source(const model::SourceKernel& kernel) override {
        return std::make_unique<FakeCase>(variants.at(kernel.kernel), calls, warm_ups);
    }
    HostCode host_code(const model::CaseSpec& spec) override {
        calls.emplace_back("host_code");
        return variants.at(spec.variant).host_code;
    }
    Reading read(const ReadingRequest& request) override {
        calls.push_back(request.name);
        const auto& known = variants.at(request.spec.variant).readings;
        const auto found = known.find(request.name);
        return found == known.end() ? Backend::read(request) : found->second;
    }
    std::uint64_t free_memory() override { return 1 << 20; }

    std::string counters_problem() override { return no_counters; }
    bool has_counter(const std::string& counter) override {
        return !lacking_counters.contains(counter);
    }
    std::vector<CounterValues> collect(std::span<const CounterCase> cases,
                                       const std::vector<std::string>& counters) override {
        calls.emplace_back("collect");
        counter_cases.assign(cases.begin(), cases.end());
        collected_counters = counters;
        if (loses_device_counting) throw DeviceLost("collect failed");
        std::vector<CounterValues> collected;
        collected.reserve(cases.size());
        for (const CounterCase& entry : cases) {
            collected.push_back(dynamic_cast<FakeCase&>(*entry.opened).variant().counters);
        }
        return collected;
    }
};

}  // namespace perfgate::measure::fakes
