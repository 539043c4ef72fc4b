// SPDX-License-Identifier: Apache-2.0
#include "document/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "document/archive.hpp"
#include "model/date.hpp"
#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::document {

using model::Ledger;
using model::LedgerAction;
using model::LedgerEntry;

namespace {

constexpr Schema ledger_schema{"perfgate.ledger", 1, 2};  // 1: entries have no digests

}  // namespace

template <>
inline constexpr LedgerAction choices<LedgerAction>[] = {
    LedgerAction::accept, LedgerAction::acknowledge, LedgerAction::refresh, LedgerAction::prune,
    LedgerAction::improved};

template <class Archive>
void describe(Archive& archive, Described<Archive, model::LedgerChange>& change) {
    archive.required("unit", change.unit);
    archive.optional("before", change.before);
    archive.required("after", change.after);
    archive.optional("anchor", change.anchor);
}

template <class Archive>
void describe(Archive& archive, Described<Archive, LedgerEntry>& entry) {
    const auto is_time = [](JsonValue value, const std::string& at) {
        if (model::date_of(at).empty()) {
            value.fail("expected a time of UTC, as 2026-11-21T10:00:00Z");
        }
    };
    archive.optional("case", entry.id);
    archive.required("at", entry.at, is_time);
    archive.required("action", entry.action);
    archive.optional("by", entry.by);
    archive.optional("reason", entry.reason);
    archive.optional("recorded_at", entry.recorded_at);
    archive.optional("git_revision", entry.git_revision);
    archive.optional("until", entry.until);
    archive.optional("anchor_reset", entry.anchor_reset);
    archive.optional("cases", entry.cases);
    archive.optional("changes", entry.changes);
    archive.optional("digests", entry.digests);
    archive.optional("removed", entry.removed);
    archive.optional("added_boards", entry.added_boards);
    archive.check([&](JsonValue value) {
        if (entry.id.empty() == (entry.action == LedgerAction::refresh)) return;
        value.fail("expected a case, but for a refresh, which is of many");
    });
}

/// The first line.
template <class Archive>
void describe(Archive& archive, Described<Archive, Ledger>& ledger) {
    archive.required("suite", ledger.suite);
    archive.required("device", ledger.device_key);
}

std::string write_ledger(Ledger ledger) {
    std::stable_sort(ledger.entries.begin(), ledger.entries.end(),
                     [](const LedgerEntry& left, const LedgerEntry& right) {
                         return std::tie(left.id, left.at) < std::tie(right.id, right.at);
                     });
    std::string text = write_document(ledger_schema, ledger, JsonLayout::compact) + '\n';
    for (const LedgerEntry& entry : ledger.entries) text += write_line(entry) + '\n';
    return text;
}

Ledger parse_ledger(std::string_view text, std::string_view source) {
    Ledger ledger;
    std::size_t number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        JsonDocument document(std::string(line), fmt::format("{}:{}", source, ++number));
        if (number > 1 && !document.root().find("schema")) {
            read(document.root(), ledger.entries.emplace_back());
            continue;
        }
        Ledger head;
        read_document(document, ledger_schema, head);
        if (number == 1) {
            ledger = std::move(head);
        } else if (head.suite != ledger.suite || head.device_key != ledger.device_key) {
            document.root().fail("expected the suite and device of the first line");
        }
    }
    if (number == 0) {
        throw util::InputError(
            fmt::format("{}: expected a ledger, found an empty file", util::printable(source)));
    }
    return ledger;
}

}  // namespace perfgate::document
