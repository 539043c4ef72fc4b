// SPDX-License-Identifier: Apache-2.0
// What the programs of nccl-tests print: a line for each size, with the values out of place and in
// place, which are two results.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/table.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::benchmark {

namespace {

constexpr double ns_of_us = 1e3;
constexpr double bytes_of_gb = 1e9;

/// One number, or several that are not read.
constexpr std::string_view number_pattern = "[0-9.e+]+";

/// "  1048576  262144  float  sum  -1  33.10  31.68  59.40  0  33.34  31.45  58.97  0": size,
/// count, type, operation, root, and twice time, algorithm and bus bandwidth and wrong results. The
/// bandwidth of a few bytes is printed as 0.00, which is none.
std::string pattern(bool in_place) {
    const std::string wrong = fmt::format("{}|N/A", number_pattern);  // "1.04858e+06" of a million
    const std::string skipped = fmt::format(" +{0} +{0} +{0} +({1})", number_pattern, wrong);
    const std::string read = fmt::format(
        " +(?P<time>{0}) +{0} +(?:0\\.00|(?P<bus>{0})) +(?P<wrong>{1})", number_pattern, wrong);
    return fmt::format(
        "^ *(?P<size>[0-9]+) +[0-9]+ +(?P<type>[a-z0-9_]+) +(?P<redop>[a-z]+)( "
        "+(?P<root>-?[0-9]+))?{}{}\\s*$",
        in_place ? skipped : read, in_place ? read : skipped);
}

struct Test {
    std::string_view name;  ///< of the program, which old ones do not print
    std::string_view text;
    std::size_t lines_before = 0;
};

/// Each begins with "# Collective test starting: all_reduce_perf".
std::vector<Test> tests_in(std::string_view text) {
    constexpr std::string_view start = "# Collective test starting: ";
    constexpr std::size_t most_tests = 64;
    std::size_t begin = text.find(start);
    if (begin == std::string_view::npos) return {{"collective", text}};
    std::vector<Test> tests;
    while (begin != std::string_view::npos) {
        if (tests.size() == most_tests) {
            throw util::InputError("it has the output of more than {} tests", most_tests);
        }
        const std::size_t name = begin + start.size(), end = text.find(start, name);
        const auto lines =
            std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
        tests.push_back({text.substr(name, text.find_first_of(" \r\n", name) - name),
                         text.substr(begin, end == std::string_view::npos ? end : end - begin),
                         static_cast<std::size_t>(lines)});
        begin = end;
    }
    return tests;
}

}  // namespace

Results read_nccl_tests(std::string_view text, std::string_view /*source*/, const Layout& reading) {
    Results results;
    const KnownRows known{{{"wrong", {"0", "N/A"}}}};
    for (const Test& test : tests_in(text)) {
        const std::size_t before = results.results.size();
        // Behind empty lines its own keep their numbers.
        const std::string numbered = std::string(test.lines_before, '\n').append(test.text);
        for (const bool in_place : {false, true}) {
            Layout layout;
            layout.format = reading.format;
            layout.rows = pattern(in_place);
            layout.axes = {
                {"size", "size"}, {"type", "type"}, {"redop", "redop"}, {"root", "root"}};
            layout.values = {value_of("real_time", "time", ns_of_us),
                             value_of("bytes_per_second", "bus", bytes_of_gb)};
            for (Result& result : read_matches(numbered, layout, &known).results) {
                result.name = test.name;
                result.params["in_place"] = in_place;
                results.results.push_back(std::move(result));
            }
        }
        if (results.results.size() == before) {
            throw util::InputError("{} has no line of results", util::printable(test.name, 80));
        }
    }
    return results;
}

}  // namespace perfgate::benchmark
