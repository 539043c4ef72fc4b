// SPDX-License-Identifier: Apache-2.0
#include "activity/overheads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace perfgate::activity {
namespace {

/// What the driver did, where it is about the program's code.
enum class About { other, compiling, loading };

struct Kind {
    std::uint32_t number;  ///< CUpti_ActivityOverheadKind, see cupti_activity.h
    OverheadSource source;
    About about;
    const char* name;
};
constexpr Kind kinds[] = {
    {1, OverheadSource::driver, About::compiling, "driver compiler"},
    {1U << 16, OverheadSource::cupti, About::other, "CUPTI buffer flush"},
    {2U << 16, OverheadSource::cupti, About::other, "CUPTI instrumentation"},
    {3U << 16, OverheadSource::cupti, About::other, "CUPTI resources"},
    {4U << 16, OverheadSource::driver, About::loading, "module loading by the runtime"},
    {5U << 16, OverheadSource::driver, About::loading, "lazy function loading"},
    {6U << 16, OverheadSource::driver, About::other, "command buffer full"},
    {7U << 16, OverheadSource::cupti, About::other, "activity buffer request"},
    {8U << 16, OverheadSource::cupti, About::other, "UVM set-up"},
};

Kind kind_of(std::uint32_t number) {
    const auto* const known = std::find_if(std::begin(kinds), std::end(kinds),
                                           [&](const Kind& kind) { return kind.number == number; });
    return known != std::end(kinds) ? *known
                                    : Kind{number, OverheadSource::unknown, About::other, nullptr};
}

}  // namespace

const char* to_text(OverheadSource source) {
    switch (source) {
        case OverheadSource::cupti:
            return "cupti";
        case OverheadSource::driver:
            return "driver";
        case OverheadSource::unknown:
            return "unknown";
    }
    return "";
}

std::string overhead_name(std::uint32_t number) {
    const Kind kind = kind_of(number);
    return kind.name != nullptr ? kind.name : fmt::format("overhead {}", number);
}

void add_overheads(const std::vector<Overhead>& records, Profile& profile) {
    std::map<std::uint32_t, std::vector<std::uint64_t>> lengths;
    std::vector<Interval> by_cupti, compiling, loading;
    for (const Overhead& each : records) {
        if (each.end_ns <= each.start_ns) continue;
        const Interval time{each.start_ns, each.end_ns};
        lengths[each.kind].push_back(time.length());
        const Kind kind = kind_of(each.kind);
        if (kind.source == OverheadSource::cupti) by_cupti.push_back(time);
        if (kind.about == About::compiling) compiling.push_back(time);
        if (kind.about == About::loading) loading.push_back(time);
    }
    profile.overhead_ns = IntervalSet(std::move(by_cupti)).length();
    const IntervalSet compiled(std::move(compiling)), loaded(std::move(loading));
    for (const Interval& window : profile.windows) {
        profile.compiling_ns += compiled.length(window);
        profile.loading_ns += loaded.length(window);
    }
    for (auto& [number, each] : lengths) {
        profile.overheads.push_back(
            {overhead_name(number), kind_of(number).source, durations(std::move(each))});
    }
}

}  // namespace perfgate::activity
