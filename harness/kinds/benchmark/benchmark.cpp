// SPDX-License-Identifier: Apache-2.0
#include "kinds/benchmark/benchmark.hpp"

#include <fmt/format.h>

#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/results.hpp"
#include "model/benchmark_settings.hpp"

namespace perfgate::benchmark {

namespace {

std::string layout_text(const Layout& reading) {
    std::string text =
        fmt::format("read as {}, rows {}, names {}", reading.format, reading.rows, reading.name);
    for (const auto& [axis, place] : reading.axes) text += fmt::format(", {} in {}", axis, place);
    for (const Value& value : reading.values) {
        text += fmt::format(", {} in {} times {}, better {}", value.definition.name, value.from,
                            value.factor, to_text(value.definition.direction));
        if (!value.unit_from.empty()) text += ", unit in " + value.unit_from;
        for (const auto& [place, wanted] : value.where) {
            text += fmt::format(", where {} is {}", place, wanted);
        }
    }
    for (const std::string& place : reading.samples) text += ", samples by " + place;
    return text;
}

}  // namespace

void Benchmark::describe(model::CaseResult& result) const {
    CommandSubject::describe(result);
    result.instance = result_.empty() ? "run" : model::benchmark_instance;
}

std::vector<model::MetricDefinition> Benchmark::own_metrics() const {
    std::vector<model::MetricDefinition> own;
    own.reserve(layout_.values.size());
    for (const Value& value : layout_.values) own.push_back(value.definition);
    return own;
}

bool Benchmark::needs_gpu() const {
    const Format* format = find_format(layout_.format);
    return command().recorded || (format != nullptr && format->of_gpu);
}

std::string Benchmark::group_identity() const {
    return CommandSubject::group_identity() + ", " + layout_text(layout_);
}

std::string Benchmark::identity() const {
    return ", result " + result_;
}

std::shared_ptr<const model::Subject> Benchmark::placed(const model::Placement& placement) const {
    return std::make_shared<const Benchmark>(there(placement), layout_, result_);
}

std::shared_ptr<const model::Subject> Benchmark::discovered(
    const model::DiscoveredCase& found) const {
    return std::make_shared<const Benchmark>(shared_command(), layout_,
                                             id_of({found.name, found.params, {}, {}, {}}));
}

const Benchmark& benchmark_of(const model::Subject& subject) {
    return dynamic_cast<const Benchmark&>(subject);
}

}  // namespace perfgate::benchmark
