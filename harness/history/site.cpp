// SPDX-License-Identifier: Apache-2.0
#include "history/site.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "model/quantity.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::history {

namespace {

constexpr std::size_t longest_text = 1000;
constexpr int digits = 6;  ///< of values, except of exact metrics

std::string_view clean(std::string_view text, std::string& room) {
    room = util::printable(text, longest_text);
    return room;
}

template <class T>
std::string json_of(const T& value) {
    document::JsonWriter json(document::JsonLayout::compact, 0, clean);
    document::write(json, value);
    return json.finish();
}

/// 32 hexadecimal digits, whatever the names contain.
std::string file_name(const std::string& suite, const std::string& id) {
    util::Sha256 sum;
    sum.add_number(suite.size());
    sum.add(suite);
    sum.add(id);
    return sum.fingerprint();
}

double rounded(double value) {
    if (value == 0) return 0;
    const double scale = std::pow(10, digits - 1 - std::floor(std::log10(std::abs(value))));
    return std::isfinite(scale) && scale > 0 ? std::round(value * scale) / scale : value;
}

std::string direction_text(model::Direction direction) {
    switch (direction) {
        case model::Direction::lower:
            return "lower";
        case model::Direction::higher:
            return "higher";
        case model::Direction::none:
            break;
    }
    return "none";
}

/// Two halves, of which the right one has the message's colour. The texts are perfgate's own.
std::string badge_svg(std::string_view label, std::string_view message, std::string_view colour) {
    const auto width = [](std::string_view text) { return 10 + 7 * text.size(); };
    const std::size_t left = width(label), right = width(message);
    return fmt::format(
        R"svg(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="20" role="img" aria-label="{3}: {4}">
<title>{3}: {4}</title>
<clipPath id="r"><rect width="{0}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)"><rect width="{1}" height="20" fill="#444"/><rect x="{1}" width="{2}" height="20" fill="{5}"/></g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="{6}" y="14">{3}</text><text x="{7}" y="14">{4}</text>
</g>
</svg>
)svg",
        left + right, left, right, label, message, colour, static_cast<double>(left) / 2,
        static_cast<double>(left) + static_cast<double>(right) / 2);
}

}  // namespace

Site::Site(const std::map<std::int64_t, Origin>& origins,
           std::optional<std::vector<model::Ledger>> ledgers)
    : origins_(origins), ledgers_(std::move(ledgers)), changes_(origins), record_(origins) {
    index_.lately_days = lately_days;
    std::vector<std::int64_t> numbers;
    for (const auto& [number, origin] : origins) numbers.push_back(number);
    std::ranges::sort(numbers, {}, [&](std::int64_t number) {
        const Origin& origin = origins.at(number);
        return std::tuple(origin.ordered, std::string_view(origin.started), number);
    });
    util::Sha256 edition;
    for (const std::int64_t number : numbers) {
        const Origin& origin = origins.at(number);
        runs_[number] = static_cast<std::int64_t>(index_.runs.size());
        index_.runs.push_back({.started = origin.started,
                               .revision = origin.revision,
                               .device = text(origin.device),
                               .driver = text(origin.driver),
                               .toolkit = text(origin.toolkit),
                               .board = text(origin.board),
                               .tool = text(origin.tool)});
        edition.add_number(static_cast<std::uint64_t>(number));
        for (const std::string* part : {&origin.device, &origin.revision, &origin.started}) {
            edition.add_number(part->size());
            edition.add(*part);
        }
    }
    index_.edition = edition.fingerprint();
}

std::int64_t Site::text(const std::string& text) {
    const auto [known, fresh] =
        texts_.try_emplace(text, static_cast<std::int64_t>(index_.texts.size()));
    if (fresh) index_.texts.push_back(text);
    return known->second;
}

std::int64_t Site::metric_of(const Series& series) {
    const std::string direction = direction_text(series.direction);
    const auto [known, fresh] =
        metrics_.try_emplace(series.metric + '\0' + series.unit + '\0' + direction,
                             static_cast<std::int64_t>(index_.metrics.size()));
    if (fresh) index_.metrics.push_back({series.metric, series.unit, direction});
    return known->second;
}

std::int64_t Site::run_of(std::int64_t number) const {
    const auto known = runs_.find(number);
    return known == runs_.end() ? -1 : known->second;
}

Site::File Site::add(const std::vector<Series>& of_case) {
    const Series& first = of_case.front();
    File file{.name = file_name(first.suite, first.id), .json = {}};
    page::CaseFile shown{.edition = index_.edition,
                         .of_case = static_cast<std::int64_t>(index_.cases.size()),
                         .series = {}};
    index_.cases.push_back({text(first.suite), first.id, file.name});
    std::vector<std::vector<std::size_t>> changed;
    for (const Series& series : of_case) {
        changed.push_back(changes_.add(series));
        series_.push_back({shown.of_case, metric_of(series)});
        page::Series& made = shown.series.emplace_back();
        made.device = text(series.device);
        made.metric = series_.back().metric;
        made.tolerance = series.tolerance;
        const bool exact = series.metric_class == model::MetricClass::exact;
        for (const Night& night : series.nights) {
            page::Night& one = made.nights.emplace_back();
            one.run = run_of(night.run);
            one.values = night.values;
            if (!exact) std::ranges::transform(one.values, one.values.begin(), rounded);
            if (!night.verdict.empty()) one.verdict = text(night.verdict);
        }
    }
    record_.add(of_case, changed);
    file.json = json_of(shown);
    return file;
}

Site::Front Site::finish() {
    std::map<std::pair<std::string, std::string>, std::int64_t> cases;
    for (std::size_t i = 0; i < index_.cases.size(); ++i) {
        const page::Case& each = index_.cases[i];
        cases[{index_.texts[static_cast<std::size_t>(each.suite)], each.id}] =
            static_cast<std::int64_t>(i);
    }
    // When changes of a case, or of its suite, were last accepted on a device.
    std::map<std::tuple<std::string, std::string, std::string>, std::string> accepted;
    for (const model::Ledger& ledger : ledgers_.value_or(std::vector<model::Ledger>())) {
        if (!record_.measured(ledger)) continue;
        for (const model::LedgerEntry& entry : ledger.entries) {
            using model::LedgerAction;
            if (entry.action == LedgerAction::improved || entry.action == LedgerAction::prune) {
                continue;
            }
            page::Note note{.device = text(ledger.device_key),
                            .suite = text(ledger.suite),
                            .of_case = {},
                            .at = entry.at,
                            .action = std::string(to_text(entry.action)),
                            .by = entry.by,
                            .reason = entry.reason};
            if (entry.action != LedgerAction::refresh) {
                const auto known = cases.find({ledger.suite, entry.id});
                if (known == cases.end()) continue;
                note.of_case = known->second;
            }
            if (entry.action != LedgerAction::acknowledge) {
                std::string& last = accepted[{ledger.device_key, ledger.suite, entry.id}];
                last = std::max(last, entry.at);
            }
            index_.notes.push_back(std::move(note));
        }
    }
    std::ranges::stable_sort(index_.notes, {}, &page::Note::at);
    if (ledgers_) record_.add(*ledgers_);

    std::optional<std::int64_t> newest;
    for (const auto& [number, origin] : origins_) {
        newest = std::max(newest, seconds_of(origin.started));
    }
    std::set<std::int64_t> worse_lately;
    for (const Finding& finding : changes_.findings()) {
        const auto origin = origins_.find(finding.run);
        if (origin == origins_.end()) continue;
        const std::string& started = origin->second.started;
        page::Finding& shown = index_.findings.emplace_back();
        shown.device = text(finding.device);
        shown.run = run_of(finding.run);
        shown.cause = text(std::string(to_text(finding.cause)));
        shown.evidence = text(finding.evidence);
        const std::optional<std::int64_t> when = seconds_of(started);
        for (const ChangePoint& point : finding.points) {
            const Added& of = series_[point.series];
            const page::Case& the_case = index_.cases[static_cast<std::size_t>(of.of_case)];
            const std::string& suite = index_.texts[static_cast<std::size_t>(the_case.suite)];
            bool is_accepted = false;
            for (const std::string& id : {the_case.id, std::string()}) {
                const auto known = accepted.find({finding.device, suite, id});
                is_accepted |= known != accepted.end() && known->second >= started;
            }
            const std::string& unit = index_.metrics[static_cast<std::size_t>(of.metric)].unit;
            model::QuantityTexts texts = model::quantity_texts(point.before, point.after, unit);
            shown.points.push_back({.of_case = of.of_case,
                                    .metric = of.metric,
                                    .before = point.before,
                                    .after = point.after,
                                    .from = std::move(texts.before),
                                    .to = std::move(texts.after),
                                    .moved = model::moved_text(point.before, point.after, unit),
                                    .worse = point.worse,
                                    .open = point.open,
                                    .accepted = is_accepted});
            if (point.worse && point.open && !is_accepted && when && newest &&
                *newest - *when <= lately_days * 86400) {
                worse_lately.insert(of.of_case);
            }
        }
    }
    index_.months = record_.months();
    struct Said {
        std::string message;
        const char *name, *colour;
    };
    const Said said =
        index_.cases.empty() ? Said{"no runs", "lightgrey", "#767676"}
        : worse_lately.empty()
            ? Said{"steady", "green", "#1b6e3c"}
            : Said{util::counted(worse_lately.size(), "case") + " worse", "red", "#b3261e"};
    constexpr const char* label = "performance";
    return {
        .index = json_of(index_),
        .badge = {.svg = badge_svg(label, said.message, said.colour),
                  .json = fmt::format("{{\"schemaVersion\":1,\"label\":\"{}\",\"message\":\"{}\","
                                      "\"color\":\"{}\"}}\n",
                                      label, said.message, said.name)}};
}

}  // namespace perfgate::history
