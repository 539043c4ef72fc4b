// SPDX-License-Identifier: Apache-2.0
#include "replay/pool.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>

#include "gate/batch_rule.hpp"
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

Pool parse_csv(std::string_view text, std::string_view source) {
    std::map<std::string, Kernel, std::less<>> kernels;
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
        Kernel& kernel = kernels[name];
        kernel.name = name;
        kernel.processes.push_back(std::move(samples));
    }
    Pool pool{std::filesystem::path(source).stem().string(), {}};
    for (auto& [name, kernel] : kernels) pool.kernels.push_back(std::move(kernel));
    return pool;
}

Pool pool_of(const model::Run& run) {
    Pool pool{fmt::format("{} {}", run.environment.device.name, run.environment.device.board), {}};
    for (const model::SuiteResult& suite : run.suites) {
        for (const model::CaseResult& result : suite.cases) {
            for (const char* metric : {"gpu_time", "gpu_span", "host_time"}) {
                const auto found = result.metrics.find(metric);
                if (found == result.metrics.end()) continue;
                Kernel kernel{model::case_id(result.spec), {}, {}};
                for (const model::Batch& batch : found->second.batches) {
                    if (batch.set_aside.empty() && batch.round == 0 && !batch.samples.empty()) {
                        kernel.processes.push_back(batch.samples);
                    }
                }
                pool.kernels.push_back(std::move(kernel));
                break;
            }
        }
    }
    return pool;
}

}  // namespace

Pool parse_pool(std::string_view text, std::string_view source) {
    Pool pool = text.starts_with('{') ? pool_of(model::parse_run(std::string(text), source))
                                      : parse_csv(text, source);
    std::erase_if(pool.kernels,
                  [](const Kernel& kernel) { return kernel.processes.size() < least_processes; });
    for (Kernel& kernel : pool.kernels) {
        model::MetricSeries series;
        for (const std::vector<double>& samples : kernel.processes) {
            series.batches.emplace_back().samples = samples;
        }
        kernel.values = gate::batch_values(series);
    }
    if (pool.kernels.empty()) {
        throw model::InputError(
            fmt::format("{}: no kernel was measured in {} processes", source, least_processes));
    }
    return pool;
}

Pool read_pool(const std::string& file) {
    if (file == "-") {
        const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
        return parse_pool(text, "standard input");
    }
    return parse_pool(model::read_file(file, pool_limit_bytes, "pool"), file);
}

}  // namespace perfgate::replay
