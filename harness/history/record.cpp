// SPDX-License-Identifier: Apache-2.0
#include "history/record.hpp"

#include <algorithm>
#include <tuple>

#include "history/places.hpp"
#include "model/run.hpp"

namespace perfgate::history {

namespace {

/// The next night may have the same commit.
constexpr std::int64_t half_a_day_s = 12 * 3600;

/// A run as one case saw it.
struct Judged {
    const Origin* origin = nullptr;
    std::int64_t run = 0, started_s = 0;
    std::string verdict, code;
    bool changed = false;  ///< a series of the case
};

std::string month_of(const std::string& utc) {
    return seconds_of(utc) ? utc.substr(0, 7) : std::string();
}

}  // namespace

void Record::add(std::span<const Series> series,
                 std::span<const std::vector<std::size_t>> changed) {
    for (std::size_t begin = 0, end = 0; begin < series.size(); begin = end) {
        const Series& first = series[begin];
        while (end < series.size() && series[end].device == first.device &&
               series[end].suite == first.suite && series[end].id == first.id) {
            ++end;
        }
        measured_.emplace(first.device, first.suite);
        add_case(series.subspan(begin, end - begin), changed.subspan(begin, end - begin));
    }
}

void Record::add_case(std::span<const Series> of_case,
                      std::span<const std::vector<std::size_t>> changed) {
    std::map<std::int64_t, Judged> by_run;
    for (std::size_t i = 0; i < of_case.size(); ++i) {
        const std::vector<Night>& nights = of_case[i].nights;
        for (const Night& night : nights) {
            const auto origin = origins_.find(night.run);
            if (origin == origins_.end()) continue;
            const std::optional<std::int64_t> started = seconds_of(origin->second.started);
            if (!started) continue;
            by_run.try_emplace(night.run, Judged{&origin->second, night.run, *started,
                                                 night.verdict, night.code, false});
        }
        for (const std::size_t at : changed[i]) {
            if (const auto known = by_run.find(nights[at].run); known != by_run.end()) {
                known->second.changed = true;
            }
        }
    }
    std::vector<Judged> nights;
    for (auto& [run, judged] : by_run) nights.push_back(std::move(judged));
    std::ranges::sort(nights, {}, [](const Judged& night) {
        return std::tuple(night.origin->ordered, night.started_s, night.run);
    });
    std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> by_revision;
    for (std::size_t i = 0; i < nights.size(); ++i) {
        const Judged& night = nights[i];
        const std::string& revision = night.origin->revision;
        if (model::names_a_commit(revision)) {
            by_revision[revision].emplace_back(night.started_s, night.run);
        }
        if (night.verdict.empty()) continue;
        Month& month = months_[month_of(night.origin->started)];
        ++month.judged;
        const std::string alarm(to_text(model::Verdict::regressed));
        if (night.verdict != alarm || (i > 0 && nights[i - 1].verdict == alarm)) continue;
        ++month.alarms;
        const bool other_code = i > 0 && night.code != nights[i - 1].code && !night.code.empty() &&
                                !nights[i - 1].code.empty();
        if (other_code || i + least_nights >= nights.size()) continue;
        const std::size_t first = i - std::min(i, least_nights);
        if (std::none_of(nights.begin() + static_cast<std::ptrdiff_t>(first),
                         nights.begin() + static_cast<std::ptrdiff_t>(i + least_nights) + 1,
                         [](const Judged& near) { return near.changed; })) {
            ++month.false_alarms;
        }
    }
    for (auto& [revision, runs] : by_revision) {
        std::ranges::sort(runs);
        for (std::size_t i = 1; i < runs.size(); ++i) {
            if (runs[i].first - runs[i - 1].first > half_a_day_s) continue;
            if (!again_.insert(runs[i].second).second) continue;
            ++months_[month_of(origins_.at(runs[i].second).started)].reran;
        }
    }
}

bool Record::measured(const model::Ledger& ledger) const {
    return measured_.contains({ledger.device_key, ledger.suite});
}

void Record::add(std::span<const model::Ledger> ledgers) {
    has_ledger_ = true;
    for (const model::Ledger& ledger : ledgers) {
        if (!measured(ledger)) continue;
        for (const model::LedgerEntry& entry : ledger.entries) {
            using model::LedgerAction;
            const std::string name = month_of(entry.at);
            const bool acknowledges = entry.action == LedgerAction::acknowledge;
            if (name.empty() || (!acknowledges && entry.action != LedgerAction::accept &&
                                 entry.action != LedgerAction::refresh)) {
                continue;
            }
            Month& month = months_[name];
            auto& count = acknowledges ? month.acknowledged : month.accepted;
            count = count.value_or(0) + 1;
        }
    }
}

std::vector<Month> Record::months() const {
    std::vector<Month> all;
    for (const auto& [name, month] : months_) {
        all.push_back(month);
        all.back().month = name;
        if (!has_ledger_) continue;
        if (!all.back().acknowledged) all.back().acknowledged = 0;
        if (!all.back().accepted) all.back().accepted = 0;
    }
    std::ranges::reverse(all);
    return all;
}

}  // namespace perfgate::history
