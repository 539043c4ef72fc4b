// SPDX-License-Identifier: Apache-2.0
#include "baseline/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "baseline/file_changes.hpp"
#include "baseline/store.hpp"
#include "document/baseline.hpp"
#include "model/baseline.hpp"
#include "stats/quantiles.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::baseline {

namespace {

namespace fs = std::filesystem;
using model::BaselineCase;
using model::LedgerAction;
using model::LedgerEntry;
using model::MetricSeries;

/// For two doubles, one stored and one computed again.
bool same_number(double left, double right) {
    return std::fabs(left - right) <= 1e-9 * std::max(std::fabs(left), std::fabs(right));
}

/// The faults of one baseline and its ledger.
class Checking {
  public:
    Checking(std::string file, StoreCheck& check) : file_(std::move(file)), check_(check) {}

    void baseline(const model::Baseline& baseline, const std::string& today) {
        for (const auto& [id, expected] : baseline.cases) {
            for (const auto& [metric, series] : expected.metrics) value(id, metric, series);
            for (const auto& [metric, anchor] : expected.anchors) {
                if (!expected.metrics.contains(metric)) {
                    fault(id, "it has an anchor of {} and no value", util::printable(metric));
                }
            }
            for (const auto& [metric, known] : expected.acknowledged) {
                const auto series = expected.metrics.find(metric);
                if (series == expected.metrics.end() || series->second.unit != known.known.unit) {
                    fault(id, "{} is acknowledged and has no value in that unit",
                          util::printable(metric));
                }
                if (known.until < today) {
                    check_.notes.push_back(fmt::format(
                        "{}: {}: the acknowledgement of {} ended on {}", util::printable(file_),
                        util::printable(id), util::printable(metric), known.until));
                }
            }
        }
    }

    /// `baseline` null: there is none.
    void ledger(const model::Ledger& ledger, const model::Baseline* baseline) {
        read(ledger);
        std::set<std::string> ids;
        for (const auto& [id, told] : told_) ids.insert(id);
        if (baseline != nullptr) {
            for (const auto& [id, expected] : baseline->cases) ids.insert(id);
        }
        for (const std::string& id : ids) {
            const BaselineCase* expected = nullptr;
            if (baseline != nullptr) {
                const auto found = baseline->cases.find(id);
                if (found != baseline->cases.end()) expected = &found->second;
            }
            agreement(id, told_[id], expected);
        }
        if (without_digest_ > 0) {
            check_.faults.push_back(fmt::format(
                "{}: the ledger is of an older perfgate and cannot show edits of {}: {}",
                util::printable(file_), util::counted(without_digest_, "case"),
                remedy(ledger.suite)));
        }
    }

    /// `text` is the file's.
    void text(const std::string& text, const gate::StoredBaseline& stored) {
        if (document::is_as_written(text, stored.baseline)) return;
        check_.faults.push_back(
            stored.older
                ? fmt::format("{}: of an older format version, in which edits cannot be found: {}",
                              util::printable(file_), remedy(stored.baseline.suite))
            : text.find("\r\n") != std::string::npos
                ? fmt::format(
                      "{}: its lines end with CR LF, as git or an editor left them: put '*/*.json "
                      "text eol=lf' into .gitattributes of the baselines' folder and check it out "
                      "again",
                      util::printable(file_))
                : fmt::format("{}: not as perfgate writes it: edited by hand, or merged without "
                              "care",
                              util::printable(file_)));
    }

    /// Only `accept` writes acknowledgements, and it records them in the ledger.
    void acknowledgements(const model::Baseline& baseline, const model::Ledger* ledger) {
        std::set<std::pair<std::string, std::string>> known;  // case and day
        if (ledger != nullptr) {
            for (const LedgerEntry& entry : ledger->entries) {
                if (entry.action == LedgerAction::acknowledge) known.emplace(entry.id, entry.until);
            }
        }
        for (const auto& [id, expected] : baseline.cases) {
            for (const auto& [metric, acknowledged] : expected.acknowledged) {
                if (known.contains({id, acknowledged.until})) continue;
                fault(id, "{} is acknowledged until {}, which the ledger does not know",
                      util::printable(metric), acknowledged.until);
            }
        }
    }

  private:
    static std::string remedy(const std::string& suite) {
        return fmt::format("renew it with 'perfgate baseline refresh' and the file of suite {}",
                           util::printable(suite));
    }

    template <typename... Args>
    void fault(const std::string& id, fmt::format_string<Args...> text, Args&&... args) {
        check_.faults.push_back(fmt::format("{}: {}: {}", util::printable(file_),
                                            util::printable(id),
                                            fmt::format(text, std::forward<Args>(args)...)));
    }

    /// The gate uses the samples; reviewers read the value.
    void value(const std::string& id, const std::string& metric, const MetricSeries& series) {
        const std::vector<double> samples = model::all_samples(series);
        if (samples.empty()) return;
        const double median = stats::median(samples);
        if (!same_number(series.value, median)) {
            fault(id, "{} is {}, and its samples say {}", util::printable(metric),
                  util::number_text(series.value), util::number_text(median));
        }
    }

    /// What the newest entries say about one case. Times are whole seconds; any entry of the same
    /// second may be the last one.
    struct Told {
        std::string at;
        std::set<std::string> digests;
        bool removed = false;
    };

    void read(const model::Ledger& ledger) {
        for (const LedgerEntry& entry : ledger.entries) {
            const auto tell = [&](const std::string& id, const auto& say) {
                Told& told = told_[id];
                if (told.at < entry.at) told = {entry.at, {}, false};
                if (told.at == entry.at) say(told);
            };
            for (const auto& each : entry.digests) {
                tell(each.first, [&](Told& told) { told.digests.insert(each.second); });
            }
            // It was written before ledgers had digests, and does not even name its cases.
            lacks_digests_ = lacks_digests_ || (entry.action == LedgerAction::refresh &&
                                                entry.cases > 0 && entry.digests.empty());
            for (const std::string& id : entry.removed) {
                tell(id, [](Told& told) { told.removed = true; });
            }
            // What a run saw changes no baseline.
            if (entry.action == LedgerAction::refresh || entry.action == LedgerAction::improved) {
                continue;
            }
            const bool pruned = entry.action == LedgerAction::prune;
            tell(entry.id, [&](Told& told) { told.removed = told.removed || pruned; });
        }
    }

    /// `expected` null: the baseline does not have the case.
    void agreement(const std::string& id, const Told& told, const BaselineCase* expected) {
        if (expected == nullptr) {
            if (told.removed) return;
            fault(id, "the ledger says that it was accepted, and the baseline does not have it");
        } else if (told.at.empty() && lacks_digests_) {
            ++without_digest_;
        } else if (told.at.empty()) {
            fault(id, "it is not in the ledger: it was never accepted");
        } else if (told.digests.empty()) {
            fault(id, "{}",
                  told.removed ? "the ledger says that it was removed"
                               : "its last ledger entry has no digest: refresh it");
        } else if (!told.digests.contains(document::digest_of_case(id, *expected))) {
            fault(id, "not as it was accepted: edited by hand, or merged without care");
        }
    }

    std::string file_;
    StoreCheck& check_;
    std::map<std::string, Told> told_;  ///< by case
    bool lacks_digests_ = false;        ///< an entry of a refresh
    std::size_t without_digest_ = 0;    ///< cases that only such an entry can be about
};

/// The document; nothing after adding a fault.
template <typename Load>
auto attempt(StoreCheck& check, const Load& load) -> decltype(load()) {
    try {
        return load();
    } catch (const util::InputError& error) {
        check.faults.emplace_back(error.what());
        return std::nullopt;
    }
}

}  // namespace

StoreCheck verify_store(const fs::path& folder, const std::string& today) {
    StoreCheck check;
    if (std::string left = interrupted_change(folder); !left.empty()) {
        check.faults.push_back(std::move(left));
    }
    for (const BaselinePlace& place : stored_places(folder, &check.faults)) {
        const fs::path file = baseline_path(folder, place.device_key, place.suite);
        const std::size_t faults = check.faults.size();
        const auto baseline =
            attempt(check, [&] { return load_baseline(folder, place.device_key, place.suite); });
        const auto ledger =
            attempt(check, [&] { return load_ledger(folder, place.device_key, place.suite); });
        check.baselines += baseline ? 1 : 0;
        check.ledgers += ledger ? 1 : 0;
        // Files that cannot be read are not compared.
        if (check.faults.size() > faults) continue;
        Checking checking(file.string(), check);
        if (baseline) {
            checking.text(util::read_file(file, baseline_limit_bytes, "baseline"), *baseline);
            checking.baseline(baseline->baseline, today);
            checking.acknowledgements(baseline->baseline, ledger ? &*ledger : nullptr);
        }
        if (ledger) {
            checking.ledger(*ledger, baseline ? &baseline->baseline : nullptr);
        } else {
            check.faults.push_back(fmt::format(
                "{}: it has no ledger: restore {} from version control, or remove the baseline "
                "and refresh it",
                util::printable(file.string()),
                util::printable(ledger_path(folder, place.device_key, place.suite).string())));
        }
    }
    return check;
}

}  // namespace perfgate::baseline
