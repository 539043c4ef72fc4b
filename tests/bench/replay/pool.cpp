// SPDX-License-Identifier: Apache-2.0
#include "replay/pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "document/baseline.hpp"
#include "document/run.hpp"
#include "gate/batch_rule.hpp"
#include "model/baseline.hpp"
#include "model/case.hpp"
#include "model/error.hpp"
#include "model/file.hpp"
#include "model/run.hpp"
#include "model/text.hpp"

namespace perfgate::replay {

namespace {

constexpr std::size_t pool_limit_bytes = std::size_t{1} << 30;
constexpr double ns_per_us = 1000;

/// The text up to the separator; `text` goes on behind it.
std::string_view next(std::string_view& text, char separator) {
    const std::size_t end = text.find(separator);
    const std::string_view part = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    return part;
}

double sample_of(std::string_view field, std::string_view source, std::size_t line) {
    double us = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), us);
    if (error != std::errc() || end != field.data() + field.size() || !(us > 0) ||
        !std::isfinite(us)) {
        throw model::InputError(fmt::format("{}:{}: expected a time in microseconds, found '{}'",
                                            source, line, model::printable(field, 40)));
    }
    return us * ns_per_us;
}

/// Grows as files are read.
class Pools {
  public:
    void add(const std::string& board, const std::string& kernel, std::vector<double> samples) {
        Pool& pool = found(pools_, board);
        found(pool.kernels, kernel).processes.push_back(std::move(samples));
    }

    std::vector<Pool> take() && {
        for (Pool& pool : pools_) finish(pool);
        std::erase_if(pools_, [](const Pool& pool) { return pool.kernels.empty(); });
        return std::move(pools_);
    }

  private:
    template <class Named>
    static Named& found(std::vector<Named>& all, const std::string& name) {
        const auto at = std::find_if(all.begin(), all.end(),
                                     [&](const Named& one) { return one.name == name; });
        if (at != all.end()) return *at;
        all.emplace_back().name = name;
        return all.back();
    }

    static void finish(Pool& pool) {
        std::erase_if(pool.kernels, [](const Kernel& kernel) {
            return kernel.processes.size() < least_processes;
        });
        for (Kernel& kernel : pool.kernels) {
            model::MetricSeries series;
            for (const std::vector<double>& samples : kernel.processes) {
                series.batches.emplace_back().samples = samples;
            }
            kernel.values = gate::batch_values(series);
        }
    }

    std::vector<Pool> pools_;
};

void add_csv(std::string_view text, const std::string& source, Pools& pools) {
    const std::string board = std::filesystem::path(source).stem().string();
    for (std::size_t line = 1; !text.empty(); ++line) {
        std::string_view row = next(text, '\n');
        if (row.ends_with('\r')) row.remove_suffix(1);
        if (row.empty()) continue;
        next(row, ',');  // rows are in the order of the processes
        const std::string name(next(row, ','));
        std::vector<double> samples;
        while (!row.empty()) samples.push_back(sample_of(next(row, ','), source, line));
        if (name.empty() || samples.empty()) {
            throw model::InputError(
                fmt::format("{}:{}: expected process,kernel,sample,…", source, line));
        }
        pools.add(board, name, std::move(samples));
    }
}

void add_case(const std::string& device, const std::string& id,
              const std::map<std::string, model::MetricSeries>& metrics, Pools& pools) {
    for (const char* metric : {"gpu_time", "gpu_span", "host_time"}) {
        const auto found = metrics.find(metric);
        if (found == metrics.end()) continue;
        for (const model::Batch& batch : found->second.batches) {
            // Later rounds are of cases that were chosen for being slow.
            if (batch.excluded.empty() && batch.round == 0 && !batch.samples.empty()) {
                pools.add(fmt::format("{} {}", device, batch.device), id, batch.samples);
            }
        }
        return;
    }
}

void add_document(std::string text, const std::string& source, Pools& pools) {
    constexpr std::size_t head = 100;
    if (text.substr(0, head).find("\"perfgate.baseline\"") != std::string::npos) {
        const model::Baseline baseline = document::parse_baseline(std::move(text), source);
        for (const auto& [id, stored] : baseline.cases) {
            add_case(baseline.device.name, id, stored.metrics, pools);
        }
        return;
    }
    const model::Run run = document::parse_run(std::move(text), source);
    for (const model::SuiteResult& suite : run.suites) {
        for (const model::CaseResult& result : suite.cases) {
            add_case(run.environment.device.name, model::case_id(result.spec), result.metrics,
                     pools);
        }
    }
}

}  // namespace

std::vector<Pool> read_pools(const std::vector<std::string>& files) {
    Pools growing;
    for (const std::string& file : files) {
        std::string text = model::read_file(file, pool_limit_bytes, "pool");
        if (text.starts_with('{')) {
            add_document(std::move(text), file, growing);
        } else {
            add_csv(text, file, growing);
        }
    }
    std::vector<Pool> pools = std::move(growing).take();
    if (pools.empty()) {
        throw model::InputError(
            fmt::format("no kernel was measured in {} processes of one board", least_processes));
    }
    return pools;
}

}  // namespace perfgate::replay
