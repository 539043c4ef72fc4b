// SPDX-License-Identifier: Apache-2.0
// The programs of nccl-tests print a line for each rank with its device, one for each size with the
// values out of place and in place, which are two results, and two that end the output.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
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

/// The text behind `start`, to the end of the line; nothing if it is not there.
std::optional<std::string_view> line_behind(std::string_view start, std::string_view text) {
    const std::size_t at = text.find(start);
    if (at == std::string_view::npos) return std::nullopt;
    text.remove_prefix(at + start.size());
    return text.substr(0, text.find_first_of("\r\n"));
}

/// The ranks by the names of their devices: "2 NVIDIA H100", as of
/// "#  Rank  0 Group  0 Pid  14010 on host device  0 [0000:06:00] NVIDIA H100"; older versions
/// write more spaces and no group.
std::string device_of(std::string_view text) {
    constexpr std::size_t longest_name = 300;
    static const re2::RE2 rank(R"((?m)^# *Rank (?:[^\]\r\n]*\] )?([^\r\n]*))", re2::RE2::Latin1);
    std::map<std::string, int> counts;
    re2::StringPiece rest(text.data(), text.size()), found;
    while (re2::RE2::FindAndConsume(&rest, rank, &found)) {
        const std::string_view name(found.data(), found.size());
        ++counts[util::printable(name.substr(0, name.find_last_not_of(' ') + 1), longest_name)];
    }
    std::string words;
    for (const auto& [name, count] : counts) {
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, name);
    }
    return words;
}

/// A program that stops early lacks these lines. 'FAILED' in one of them may be all that it says of
/// what is wrong; where rows say which of them are, the others are right.
void require_good_end(const Test& test, std::span<Result> results) {
    const bool known =
        std::ranges::any_of(results, [](const Result& each) { return !each.problem.empty(); });
    for (const std::string_view start : {"Out of bounds values", "Avg bus bandwidth"}) {
        const auto line = line_behind(start, test.text);
        if (!line) {
            throw util::InputError(
                "{} has no line '# {}', which ends its output: run it to its end",
                util::printable(test.name, 80), start);
        }
        if (known || line->find("FAILED") == std::string_view::npos) continue;
        for (Result& result : results) {
            result.problem =
                fmt::format("{} reports '{}{}'", result.name, start, util::printable(*line, 80));
        }
    }
}

}  // namespace

Results read_nccl_tests(std::string_view text, std::string_view /*source*/, const Layout& reading) {
    Results results;
    std::set<std::string> devices;
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
        require_good_end(test, std::span(results.results).subspan(before));
        devices.insert(device_of(test.text));
    }
    results.device = fmt::format("{}", fmt::join(devices, "; "));
    return results;
}

}  // namespace perfgate::benchmark
