// SPDX-License-Identifier: Apache-2.0
#include "replay/made.hpp"

#include <fmt/format.h>

#include <cmath>
#include <memory>

namespace perfgate::replay {

namespace {

constexpr std::size_t baseline_processes = 20;
constexpr std::size_t run_processes = 5 + 8 + 32;
constexpr double long_ns = 100'000;

model::Batch batch_of(double time, std::size_t session) {
    model::Batch batch;
    batch.run = static_cast<std::int64_t>(session);
    batch.samples = {time};
    return batch;
}

using Shape = std::function<double(Random&)>;

Source source_of(std::string name, double value_ns, const Shape& shape) {
    Source source;
    source.name = std::move(name);
    source.value_ns = value_ns;
    source.draw = [value_ns, shape](Random& random) {
        Draw draw;
        for (std::size_t i = 0; i < baseline_processes; ++i) {
            draw.baseline.push_back(batch_of(value_ns * shape(random), 0));
        }
        for (std::size_t i = 0; i < run_processes; ++i) {
            draw.run.push_back(batch_of(value_ns * shape(random), 0));
        }
        return draw;
    };
    return source;
}

Source with_outlier(Source source) {
    source.draw = [draw = source.draw](Random& random) {
        Draw drawn = draw(random);
        drawn.baseline[random.below(drawn.baseline.size())].samples[0] *= 1.3;
        return drawn;
    };
    return source;
}

Source in_ticks(Source source) {
    source.tick_ns = 32;
    return source;
}

Source with_modes(Source source) {
    source.multimodal = true;
    return source;
}

}  // namespace

std::vector<Suite> made_shapes() {
    const auto normal = [](double deviation) {
        return [deviation](Random& random) { return 1 + deviation * random.normal(); };
    };
    const auto modes = [](double share, double apart) {
        return [=](Random& random) {
            return (random.uniform() < share ? 1 + apart : 1) * (1 + 0.001 * random.normal());
        };
    };
    const auto tail = [](Random& random) {
        return 1 + 0.001 * random.normal() - 0.005 * std::log(random.uniform());
    };
    std::vector<Source> cases{
        source_of("normal, 0.3 %", long_ns, normal(0.003)),
        source_of("normal, 1 %", long_ns, normal(0.01)),
        source_of("a tail to one side", long_ns, tail),
        with_modes(source_of("two modes 3 % apart, half each", long_ns, modes(0.5, 0.03))),
        with_modes(source_of("two modes 9 % apart, half each", long_ns, modes(0.5, 0.09))),
        with_modes(source_of("two modes 9 % apart, one in four slow", long_ns, modes(0.25, 0.09))),
        with_modes(
            source_of("two modes 3 % apart, one in six fast", long_ns, modes(5.0 / 6, 0.03))),
        in_ticks(source_of("2.05 µs in ticks of 32 ns, 0.1 %", 2060, normal(0.001))),
        in_ticks(source_of("2.05 µs in ticks of 32 ns, 1 %", 2060, normal(0.01))),
        in_ticks(source_of("5 µs in ticks of 32 ns, 0.2 %", 5010, normal(0.002))),
        with_outlier(source_of("normal, 0.3 %, one of the baseline +30 %", long_ns, normal(0.003))),
    };
    std::vector<Suite> suites;
    for (Source& source : cases) {
        Suite& suite = suites.emplace_back();
        suite.name = source.name;
        suite.cases.push_back(std::move(source));
    }
    return suites;
}

Suite made_drift(const Drift& drift) {
    constexpr std::size_t cases = 20;
    Suite suite;
    suite.name = fmt::format("{} of the baseline, drift of {}", drift.recorded,
                             drift.shared ? "all cases alike" : "each case by itself");
    suite.recorded = drift.recorded;
    // What the sessions of this replay do to all cases; the last is the run's.
    const auto common = std::make_shared<std::vector<double>>();
    suite.begin = [common, drift](Random& random) {
        common->clear();
        for (std::size_t i = 0; i <= drift.recorded; ++i) {
            common->push_back(drift.shared ? drift.sessions * random.normal() : 0);
        }
    };
    for (std::size_t i = 0; i < cases; ++i) {
        Source& source = suite.cases.emplace_back();
        source.name = fmt::format("case {}", i);
        source.value_ns = long_ns;
        source.draw = [common, drift](Random& random) {
            std::vector<double> sessions = *common;
            for (double& session : sessions) {
                if (!drift.shared) session = drift.sessions * random.normal();
            }
            const auto time = [&](std::size_t session) {
                return long_ns * (1 + sessions[session] + drift.processes * random.normal());
            };
            Draw draw;
            for (std::size_t n = 0; n < baseline_processes; ++n) {
                const std::size_t session = n * drift.recorded / baseline_processes;
                draw.baseline.push_back(batch_of(time(session), session));
            }
            for (std::size_t n = 0; n < run_processes; ++n) {
                draw.run.push_back(batch_of(time(drift.recorded), 0));
            }
            return draw;
        };
    }
    return suite;
}

}  // namespace perfgate::replay
