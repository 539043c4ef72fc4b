// SPDX-License-Identifier: Apache-2.0
// Random values that documents must carry unharmed: a fixed seed, so that a failure repeats.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "model/environment.hpp"
#include "model/metric.hpp"

namespace perfgate::model::test {

class AwkwardValues {
  public:
    explicit AwkwardValues(unsigned seed) : random_(seed) {}

    std::size_t below(std::size_t end) { return random_() % end; }
    bool coin() { return below(2) == 0; }

    std::string text() {
        static const std::vector<std::string> texts = {"",
                                                       "plain",
                                                       "with \"quotes\" and \\",
                                                       "two\nlines\r\n",
                                                       "tab\t \x01\x1b[31m",
                                                       "grün 漢字 😀",
                                                       std::string("nul\0inside", 10),
                                                       "</script>]]>&amp;",
                                                       "null",
                                                       "1e5",
                                                       "a.b/c[d=1,e=\"f\"]@hot",
                                                       "\xe2\x80\xa8"};
        return texts[below(texts.size())];
    }
    double number() {
        static const std::vector<double> numbers = {0.0,
                                                    1.0,
                                                    -1.0,
                                                    0.1,
                                                    1.0 / 3,
                                                    12345.6789,
                                                    1e15,
                                                    1e16,
                                                    1e17,
                                                    9007199254740993.0,
                                                    1e-7,
                                                    5e-324,
                                                    2.2250738585072014e-308,
                                                    1.7976931348623157e308,
                                                    -2.5,
                                                    100000};
        return numbers[below(numbers.size())];
    }
    double positive() { return number() < 0 ? 0.25 : std::abs(number()); }
    std::int64_t count() {
        static const std::vector<std::int64_t> counts = {0, 1, 42,
                                                         std::numeric_limits<std::int32_t>::max(),
                                                         std::numeric_limits<std::int64_t>::max()};
        return counts[below(counts.size())];
    }
    std::uint64_t seed() { return coin() ? random_() : std::numeric_limits<std::uint64_t>::max(); }
    std::optional<double> maybe_number() {
        return coin() ? std::optional<double>(number()) : std::nullopt;
    }
    std::optional<bool> maybe_bool() { return coin() ? std::optional<bool>(coin()) : std::nullopt; }
    std::vector<std::string> texts() {
        return list([&] { return text(); });
    }

    template <class Make>
    std::vector<std::invoke_result_t<Make>> list(Make make) {
        std::vector<std::invoke_result_t<Make>> values;
        for (std::size_t n = below(4); n > 0; --n) values.push_back(make());
        return values;
    }

    MetricSeries series() {
        return {text(), number(), text(), list([&] {
                    Batch batch{count(), text(), seed(),        list([&] { return number(); }),
                                count(), text(), maybe_number()};
                    if (coin()) batch.tail = {number(), number()};
                    return batch;
                })};
    }
    std::map<std::string, MetricSeries> metrics() {
        std::map<std::string, MetricSeries> metrics;
        for (std::size_t n = below(4); n > 0; --n) metrics[text()] = series();
        return metrics;
    }
    Device device() {
        return {text(), text(), text(), text(), seed(), text(), text(), count(), seed()};
    }
    BoardState board_state() {
        return {maybe_number(), maybe_number(), maybe_number(), maybe_number(),
                maybe_number(), maybe_number(), maybe_number(), texts(),
                maybe_bool(),   maybe_bool(),   texts()};
    }
    Ceilings ceilings() { return {positive(), {{text(), positive()}}, text()}; }
    Environment environment() {
        return {device(), text(), text(),  text(),        text(),        text(),
                text(),   text(), count(), board_state(), board_state(), ceilings()};
    }

  private:
    std::mt19937_64 random_;
};

}  // namespace perfgate::model::test
