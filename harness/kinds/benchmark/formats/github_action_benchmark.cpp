// SPDX-License-Identifier: Apache-2.0
// The custom JSON of github-action-benchmark ("customSmallerIsBetter"): a list of {name, unit,
// value}, with range and extra if the author gives them, which are for a page and not read.
// Rows in a unit of time are read as such; others by `values` with `where`.
#include <array>
#include <string>
#include <string_view>

#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/json_text.hpp"
#include "kinds/benchmark/formats/table.hpp"

namespace perfgate::benchmark {

Results read_github_action_benchmark(std::string_view text, std::string_view source,
                                     const Layout& reading) {
    struct TimeUnit {
        std::string_view text;
        double ns;
    };
    // The action takes any text as the unit. These are the spellings of times that it writes for
    // the tools that it reads, and that its users write.
    static constexpr std::array<TimeUnit, 16> units{{{"ns", 1},
                                                     {"us", 1e3},
                                                     {"\xC2\xB5s", 1e3},
                                                     {"\xCE\xBCs", 1e3},
                                                     {"ms", 1e6},
                                                     {"s", ns_of_s},
                                                     {"sec", ns_of_s},
                                                     {"seconds", ns_of_s},
                                                     {"ns/iter", 1},
                                                     {"us/iter", 1e3},
                                                     {"ms/iter", 1e6},
                                                     {"s/iter", ns_of_s},
                                                     {"ns/op", 1},
                                                     {"us/op", 1e3},
                                                     {"ms/op", 1e6},
                                                     {"s/op", ns_of_s}}};
    Layout layout;
    layout.rows = "/*";
    layout.name = "/name";
    for (const TimeUnit& unit : units) {
        Value value = value_of("real_time", "/value", unit.ns);
        value.where = {{"/unit", std::string(unit.text)}};
        layout.values.push_back(std::move(value));
    }
    const KnownRows known;
    return read_rows_of_json(parse_json(text, source), completed(std::move(layout), reading),
                             &known);
}

}  // namespace perfgate::benchmark
