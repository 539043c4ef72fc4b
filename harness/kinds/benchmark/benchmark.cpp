// SPDX-License-Identifier: Apache-2.0
#include "kinds/benchmark/benchmark.hpp"

#include <fmt/format.h>

#include "kinds/benchmark/formats/results.hpp"
#include "metrics/catalogue.hpp"
#include "model/benchmark_instance.hpp"
#include "util/text.hpp"

namespace perfgate::benchmark {

namespace {

void add(const Layout& reading, model::MeasuredAs& to) {
    to["format"] = reading.format;
    if (!reading.rows.empty()) to["rows"] = reading.rows;
    if (!reading.name.empty()) to["case"] = reading.name;
    for (const auto& [axis, place] : reading.axes) to["axes." + axis] = place;
    for (const Value& value : reading.values) {
        to[std::string(model::value_key) + value.definition.name] = fmt::format(
            "{}, times {}, {}", value.from, util::number_text(value.factor), value.definition.unit);
        // The catalogue's never changes.
        if (metrics::find_metric(value.definition.name)) continue;
        to[model::direction_key(value.definition.name)] = to_text(value.definition.direction);
    }
}

std::string reading_text(const Layout& reading) {
    std::string text =
        fmt::format("read as {}, rows {}, names {}", reading.format, reading.rows, reading.name);
    for (const auto& [axis, place] : reading.axes) text += fmt::format(", {} in {}", axis, place);
    for (const Value& value : reading.values) {
        text += fmt::format(", {} in {} times {}, better {}", value.definition.name, value.from,
                            value.factor, to_text(value.definition.direction));
    }
    return text;
}

}  // namespace

model::MeasuredAs Benchmark::measured_as() const {
    model::MeasuredAs all = CommandSubject::measured_as();
    add(reading_, all);
    return all;
}

std::vector<model::StatedFact> Benchmark::stated() const {
    std::vector<model::StatedFact> facts = CommandSubject::stated();
    for (const Value& value : reading_.values) {
        facts.push_back({std::string(model::value_key) + value.definition.name + ", better",
                         std::string(to_text(value.definition.direction))});
    }
    return facts;
}

void Benchmark::describe(model::CaseResult& result) const {
    CommandSubject::describe(result);
    result.instance = result_.empty() ? "run" : model::benchmark_instance;
}

std::vector<model::MetricDefinition> Benchmark::own_metrics() const {
    std::vector<model::MetricDefinition> own;
    own.reserve(reading_.values.size());
    for (const Value& value : reading_.values) own.push_back(value.definition);
    return own;
}

std::string Benchmark::group_identity() const {
    return CommandSubject::group_identity() + ", " + reading_text(reading_);
}

std::string Benchmark::identity() const {
    return ", result " + result_;
}

std::shared_ptr<const model::Subject> Benchmark::placed(const model::Placement& placement) const {
    return std::make_shared<const Benchmark>(there(placement), reading_, result_);
}

std::shared_ptr<const model::Subject> Benchmark::discovered(
    const model::DiscoveredCase& found) const {
    return std::make_shared<const Benchmark>(shared_command(), reading_,
                                             id_of({found.name, found.params, {}, {}, {}}));
}

const Benchmark& benchmark_of(const model::Subject& subject) {
    return dynamic_cast<const Benchmark&>(subject);
}

}  // namespace perfgate::benchmark
