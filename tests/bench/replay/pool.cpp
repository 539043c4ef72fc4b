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
#include "model/run.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

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
        throw util::InputError(fmt::format("{}:{}: expected a time in microseconds, found '{}'",
                                           source, line, util::printable(field, 40)));
    }
    return us * ns_per_us;
}

/// Grows as files are read.
class Kernels {
  public:
    Process& add(const std::string& device, const std::string& name) {
        const auto [at, is_new] = index_.try_emplace({device, name}, kernels_.size());
        if (is_new) kernels_.push_back({device, name, {}});
        return kernels_[at->second].processes.emplace_back();
    }
    std::size_t next_session() { return sessions_++; }

    std::vector<Kernel> take() && {
        for (Kernel& kernel : kernels_) {
            model::MetricSeries series;
            for (const Process& process : kernel.processes) {
                series.batches.emplace_back().samples = process.samples;
            }
            const std::vector<double> values = gate::batch_values(series);
            for (std::size_t i = 0; i < values.size(); ++i) kernel.processes[i].value = values[i];
        }
        return std::move(kernels_);
    }

  private:
    std::vector<Kernel> kernels_;
    std::map<std::pair<std::string, std::string>, std::size_t> index_;
    std::size_t sessions_ = 0;
};

void add_csv(std::string_view text, const std::string& source, Kernels& kernels) {
    const std::string board = std::filesystem::path(source).stem().string();
    const std::size_t session = kernels.next_session();
    for (std::size_t line = 1; !text.empty(); ++line) {
        std::string_view row = next(text, '\n');
        if (row.ends_with('\r')) row.remove_suffix(1);
        if (row.empty()) continue;
        next(row, ',');  // rows are in the order of the processes
        const std::string name(next(row, ','));
        std::vector<double> samples;
        while (!row.empty()) samples.push_back(sample_of(next(row, ','), source, line));
        if (name.empty() || samples.empty()) {
            throw util::InputError(
                fmt::format("{}:{}: expected process,kernel,sample,…", source, line));
        }
        Process& process = kernels.add(board, name);
        process.board = board;
        process.session = session;
        process.samples = std::move(samples);
    }
}

void add_table(std::string_view text, const std::string& source, Kernels& kernels) {
    std::map<std::string, std::size_t> sessions;
    next(text, '\n');
    for (std::size_t line = 2; !text.empty(); ++line) {
        std::string_view row = next(text, '\n');
        const std::string board(next(row, ';'));
        const std::string session(next(row, ';'));
        const std::string name(next(row, ';'));
        const std::size_t space = board.find(' ');
        if (space == std::string::npos || name.empty() || row.empty()) {
            throw util::InputError(
                fmt::format("{}:{}: expected 'DEVICE BOARD;session;kernel;value;…'", source, line));
        }
        const std::string workload = name.substr(0, name.find('/'));
        const auto [at, is_new] = sessions.try_emplace(board + session + workload, 0);
        if (is_new) at->second = kernels.next_session();
        while (!row.empty()) {
            Process& process = kernels.add(board.substr(0, space), name);
            process.board = board.substr(space + 1);
            process.session = at->second;
            process.samples = {sample_of(next(row, ';'), source, line)};
        }
    }
}

void add_case(const std::string& device, const std::string& id, std::size_t first_session,
              const std::map<std::string, model::MetricSeries>& metrics, Kernels& kernels) {
    for (const char* metric : {"gpu_time", "gpu_span", "host_time"}) {
        const auto found = metrics.find(metric);
        if (found == metrics.end()) continue;
        for (const model::Batch& batch : found->second.batches) {
            // Later rounds are of cases that were chosen for being slow.
            if (batch.excluded.empty() && batch.round == 0 && !batch.samples.empty()) {
                Process& process = kernels.add(device, id);
                process.board = batch.device;
                process.session = first_session + static_cast<std::size_t>(batch.run);
                process.samples = batch.samples;
            }
        }
        return;
    }
}

void add_document(std::string text, const std::string& source, Kernels& kernels) {
    constexpr std::size_t head = 100;
    constexpr std::size_t most_runs = 100;
    const std::size_t session = kernels.next_session();
    if (text.substr(0, head).find("\"perfgate.baseline\"") != std::string::npos) {
        for (std::size_t i = 1; i < most_runs; ++i) kernels.next_session();
        const model::Baseline baseline = document::parse_baseline(std::move(text), source);
        for (const auto& [id, stored] : baseline.cases) {
            add_case(baseline.device.key, id, session, stored.metrics, kernels);
        }
        return;
    }
    const model::Run run = document::parse_run(std::move(text), source);
    for (const model::SuiteResult& suite : run.suites) {
        for (const model::CaseResult& result : suite.cases) {
            add_case(run.environment.device.key, model::case_id(result.spec), session,
                     result.metrics, kernels);
        }
    }
}

}  // namespace

std::vector<Kernel> read_kernels(const std::vector<std::string>& files) {
    Kernels growing;
    for (const std::string& file : files) {
        std::string text = util::read_file(file, pool_limit_bytes, "pool");
        if (text.starts_with('{')) {
            add_document(std::move(text), file, growing);
        } else if (text.starts_with("board;")) {
            add_table(text, file, growing);
        } else {
            add_csv(text, file, growing);
        }
    }
    std::vector<Kernel> kernels = std::move(growing).take();
    if (kernels.empty()) throw util::InputError("no process was recorded in these files");
    return kernels;
}

}  // namespace perfgate::replay
