// SPDX-License-Identifier: Apache-2.0
// What the programs of nccl-tests print: a line for each size, with the values out of place and in
// place, which are two results.
#include <fmt/format.h>

#include <string>
#include <utility>

#include "kinds/benchmark/formats/formats.hpp"
#include "kinds/benchmark/formats/text.hpp"
#include "util/error.hpp"

namespace perfgate::benchmark {

namespace {

constexpr double ns_of_us = 1e3;
constexpr double bytes_of_gb = 1e9;

/// One number, or several that are not read.
constexpr std::string_view number = "[0-9.e+]+";

/// "  1048576  262144  float  sum  -1  33.10  31.68  59.40  0  33.34  31.45  58.97  0": size,
/// count, type, operation, root, and twice time, algorithm and bus bandwidth and wrong results.
std::string pattern(bool in_place) {
    const std::string wrong = fmt::format("{}|N/A", number);  // "1.04858e+06" of a million
    const std::string skipped = fmt::format(" +{0} +{0} +{0} +({1})", number, wrong);
    const std::string read =
        fmt::format(" +(?P<time>{0}) +{0} +(?P<bus>{0}) +(?P<wrong>{1})", number, wrong);
    return fmt::format(
        "^ *(?P<size>[0-9]+) +[0-9]+ +(?P<type>[a-z0-9_]+) +(?P<redop>[a-z]+)"
        "( +(?P<root>-?[0-9]+))?{}{}\\s*$",
        in_place ? skipped : read, in_place ? read : skipped);
}

/// The program's name, from "# Collective test starting: all_reduce_perf"; old ones do not say it.
std::string name_in(std::string_view text) {
    constexpr std::string_view before = "# Collective test starting: ";
    const std::size_t begin = text.find(before);
    if (begin == std::string_view::npos) return "collective";
    const std::string_view rest = text.substr(begin + before.size());
    if (rest.find(before) != std::string_view::npos) {
        throw util::InputError("it has the output of several tests: write each into its own file");
    }
    return std::string(rest.substr(0, rest.find_first_of(" \r\n")));
}

}  // namespace

Results read_nccl_tests(std::string_view text, std::string_view /*source*/, const Layout& reading) {
    Results results;
    const std::string name = name_in(text);
    const KnownRows known{{{"wrong", {"0", "N/A"}}}};
    for (const bool in_place : {false, true}) {
        Layout layout;
        layout.format = reading.format;
        layout.rows = pattern(in_place);
        layout.axes = {{"size", "size"}, {"type", "type"}, {"redop", "redop"}, {"root", "root"}};
        layout.values = {value_of("real_time", "time", ns_of_us),
                         value_of("bytes_per_second", "bus", bytes_of_gb)};
        for (Result& result : read_matches(text, layout, &known).results) {
            result.name = name;
            result.params["in_place"] = in_place;
            results.results.push_back(std::move(result));
        }
    }
    if (results.results.empty()) throw util::InputError("it has no line of results");
    return results;
}

}  // namespace perfgate::benchmark
