// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/counter_collection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "backend/cuda/activity.hpp"
#include "backend/cuda/cuda_case.hpp"
#include "backend/cuda/nvtx.hpp"
#include "util/text.hpp"

namespace perfgate::backend::cuda {
namespace {

using measure::CounterCase;
using measure::CounterValues;

// Host memory that one session's counter data may take. For scale: a range of 30 counters in 12
// passes took 1.07 MB on an H100, one of 9 in 3 passes 68 kB.
constexpr std::size_t session_bytes = std::size_t{512} << 20;

CudaCase& opened(const CounterCase& entry) {
    return dynamic_cast<CudaCase&>(*entry.opened);
}

// A copy is not a range; a kernel is.
void flush(L2Flush& l2, CUstream stream) {
    if (l2.copies()) {
        l2.copy(stream);
    } else {
        l2(stream);
    }
}

std::size_t ranges_per_flush(const L2Flush& l2) {
    return l2.copies() ? 0 : 1;
}

void lose(CounterValues& values, const std::vector<std::string>& counters,
          const std::string& reason) {
    values.kernels.clear();
    values.values.clear();
    values.not_collected.clear();
    for (const std::string& counter : counters) values.not_collected.push_back({counter, reason});
}

// One entry per case; sessions fill it.
class Collection {
  public:
    Collection(OpenDevice& device, std::span<const CounterCase> cases,
               std::vector<std::string> counters, std::vector<std::string> graph_counters)
        : device_(device),
          cases_(cases),
          counters_(std::move(counters)),
          graph_counters_(std::move(graph_counters)),
          results_(cases.size()) {}

    std::vector<CounterValues> run() {
        std::vector<std::size_t> shared;
        std::vector<std::size_t> graphs;
        for (std::size_t i = 0; i < cases_.size(); ++i) {
            if (cases_[i].own_session) {
                collect({i});
            } else {
                (cases_[i].graph ? graphs : shared).push_back(i);
            }
        }
        collect_in_batches(shared);
        collect_in_batches(graphs);
        return std::move(results_);
    }

  private:
    std::size_t ranges_needed(const CounterCase& entry) {
        if (entry.graph) return 1;
        return entry.expected_kernels.size() + opened(entry).reset_kernels() +
               (entry.cache == model::Cache::cold ? ranges_per_flush(device_.flush()) : 0);
    }

    // Each batch's counter data stays below session_bytes; a larger case still gets a session of
    // its own.
    void collect_in_batches(const std::vector<std::size_t>& members) {
        if (members.empty() || wanted(members).empty()) return;
        std::size_t bytes = 0;
        try {
            bytes = device_.profiler().bytes_per_range(wanted(members));
        } catch (const cupti::Error& error) {
            for (const std::size_t member : members) {
                lose(results_[member], wanted({member}), error.what());
            }
            return;
        }
        std::vector<std::size_t> batch;
        std::size_t ranges = 0;
        for (const std::size_t member : members) {
            const std::size_t needed = ranges_needed(cases_[member]);
            if (!batch.empty() && (ranges + needed) * bytes > session_bytes) {
                collect(std::exchange(batch, {}));
                ranges = 0;
            }
            batch.push_back(member);
            ranges += needed;
        }
        collect(batch);
    }

    // A case that breaks a session costs only itself: the session is halved until the case is
    // isolated.
    void collect(const std::vector<std::size_t>& members) {
        if (members.empty() || wanted(members).empty()) return;
        try {
            session(members);
        } catch (const measure::DeviceLost&) {
            throw;
        } catch (const util::Error& error) {
            if (members.size() == 1 || affects_all(error)) {
                for (const std::size_t member : members) {
                    lose(results_[member], wanted({member}), error.what());
                }
                return;
            }
            const auto middle = members.begin() + static_cast<std::ptrdiff_t>(members.size() / 2);
            collect({members.begin(), middle});
            collect({middle, members.end()});
        }
    }

    static bool affects_all(const util::Error& error) {
        const auto* cupti = dynamic_cast<const cupti::Error*>(&error);
        return cupti != nullptr &&
               (cupti->no_permission() || cupti->code() == CUPTI_ERROR_HARDWARE_BUSY);
    }

    const std::vector<std::string>& wanted(const std::vector<std::size_t>& members) const {
        return cases_[members.front()].graph ? graph_counters_ : counters_;
    }

    void session(const std::vector<std::size_t>& members) {
        const bool graph = cases_[members.front()].graph;
        RangeProfiler::Request request;
        request.metrics = wanted(members);
        request.mode = graph ? RangeMode::launch : RangeMode::kernel;
        for (const std::size_t member : members) {
            request.max_ranges += ranges_needed(cases_[member]);
        }
        request.max_ranges = std::max<std::size_t>(request.max_ranges, 1);

        const NvtxRange range("counters");
        CounterData data;
        guarded(device_.context(), [&] {
            data = device_.profiler().collect(request, [&](Pass& pass) {
                for (const std::size_t member : members) {
                    CudaCase& one = opened(cases_[member]);
                    one.enqueue_reset();
                    if (cases_[member].cache == model::Cache::cold) {
                        flush(device_.flush(), device_.stream());
                    }
                    pass.launch(member, [&] { one.enqueue_launch(); });
                }
            });
        });
        for (const std::size_t member : members) store(member, data, request.metrics);
    }

    void store(std::size_t member, const CounterData& data,
               const std::vector<std::string>& metrics) {
        const CounterCase& entry = cases_[member];
        CounterValues& result = results_[member];
        result.method = {model::counter_source,
                         entry.graph ? "user-range/user-replay" : "auto-range/user-replay",
                         entry.cache};
        std::set<std::string> not_a_number;
        for (const CounterRange& found : data.ranges) {
            if (found.tag != member) continue;
            result.kernels.push_back(entry.graph ? "(graph)" : util::demangled(found.symbol));
            auto& values = result.values.emplace_back();
            for (std::size_t i = 0; i < metrics.size(); ++i) {
                if (std::isnan(found.values[i])) {
                    not_a_number.insert(metrics[i]);
                } else {
                    values[metrics[i]] = found.values[i];
                }
            }
        }
        if (!entry.graph && result.kernels != entry.expected_kernels) {
            lose(result, metrics, mismatch(result.kernels, entry.expected_kernels));
            return;
        }
        // Values of only some of the kernels would fold into a wrong value for the case.
        for (const std::string& counter : not_a_number) {
            for (auto& values : result.values) values.erase(counter);
            result.not_collected.push_back(
                {counter,
                 "the device gave no number: the unit is shared with others or not "
                 "available (MIG)"});
        }
    }

    static std::string mismatch(const std::vector<std::string>& found,
                                const std::vector<std::string>& expected) {
        std::string text = fmt::format("the counter pass launched {}, the dry launch {}",
                                       util::counted(found.size(), "kernel"), expected.size());
        for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
            if (found[i] != expected[i]) {
                text += fmt::format("; kernel {} was {}, then {}", i, expected[i], found[i]);
                break;
            }
        }
        return text;
    }

    OpenDevice& device_;
    std::span<const CounterCase> cases_;
    std::vector<std::string> counters_;
    std::vector<std::string> graph_counters_;
    std::vector<CounterValues> results_;
};

}  // namespace

std::string graph_problem(const std::string& counter) {
    const bool dilutes = counter.find("_elapsed") != std::string::npos ||
                         counter.find("per_second") != std::string::npos;
    return dilutes
               ? "a CUDA graph is measured as one range, whose gaps between kernels would dilute "
                 "this metric"
               : "";
}

void join_group(CounterValues more, CounterValues& values) {
    values.not_collected.insert(values.not_collected.end(), more.not_collected.begin(),
                                more.not_collected.end());
    if (more.values.empty()) return;  // lost
    if (values.values.empty()) {
        values.method = std::move(more.method);
        values.kernels = std::move(more.kernels);
        values.values = std::move(more.values);
        return;
    }
    // Both groups have been compared with the kernels of the recorded launch.
    for (std::size_t i = 0; i < std::min(values.values.size(), more.values.size()); ++i) {
        values.values[i].merge(more.values[i]);
    }
}

std::vector<CounterValues> collect_counters(OpenDevice& device, std::span<const CounterCase> cases,
                                            const std::vector<std::string>& counters) {
    std::vector<CounterValues> results(cases.size());
    const HostEvaluator& host = device.profiler().host();
    std::vector<std::string> known;
    std::vector<model::NotCollected> unknown;
    std::vector<model::NotCollected> not_in_graphs;
    for (const std::string& counter : counters) {
        if (!host.metric_exists(counter)) {
            unknown.push_back({counter, fmt::format("{} has no such counter", host.chip())});
            continue;
        }
        known.push_back(counter);
        if (const std::string problem = graph_problem(counter); !problem.empty()) {
            not_in_graphs.push_back({counter, problem});
        }
    }
    if (!known.empty()) {
        for (const std::vector<std::string>& group : host.groups(known)) {
            std::vector<std::string> in_graphs = group;
            std::erase_if(in_graphs, [](const std::string& counter) {
                return !graph_problem(counter).empty();
            });
            std::vector<CounterValues> found = Collection(device, cases, group, in_graphs).run();
            for (std::size_t i = 0; i < cases.size(); ++i) {
                join_group(std::move(found[i]), results[i]);
            }
        }
    }
    for (std::size_t i = 0; i < cases.size(); ++i) {
        auto& missing = results[i].not_collected;
        missing.insert(missing.end(), unknown.begin(), unknown.end());
        if (cases[i].graph) {
            missing.insert(missing.end(), not_in_graphs.begin(), not_in_graphs.end());
        }
    }
    return results;
}

}  // namespace perfgate::backend::cuda
