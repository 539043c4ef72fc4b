// SPDX-License-Identifier: Apache-2.0
#include "model/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "model/date.hpp"
#include "model/error.hpp"
#include "model/json_reader.hpp"
#include "model/json_writer.hpp"
#include "model/text.hpp"

namespace perfgate::model {

namespace {

constexpr std::string_view schema = "perfgate.ledger";
constexpr std::int64_t oldest_version = 1;  // entries have no digests
constexpr std::int64_t version = 2;

}  // namespace

// Static, not in an unnamed namespace: the templates find read and write by their arguments.

static void write(JsonWriter& json, const LedgerChange& change) {
    json.begin_object(JsonLayout::compact);
    write_field(json, "unit", change.unit);
    write_if_known(json, "before", change.before);
    write_field(json, "after", change.after);
    write_if_known(json, "anchor", change.anchor);
    json.end_object();
}

static void read(JsonValue value, LedgerChange& change) {
    read_field(value, "unit", change.unit);
    read_optional(value, "before", change.before);
    read_field(value, "after", change.after);
    read_optional(value, "anchor", change.anchor);
}

static void write(JsonWriter& json, const LedgerEntry& entry) {
    json.begin_object(JsonLayout::compact);
    write_unless_default(json, "case", entry.id);
    write_field(json, "at", entry.at);
    write_field(json, "action", to_text(entry.action));
    write_unless_default(json, "by", entry.by);
    write_unless_default(json, "reason", entry.reason);
    write_unless_default(json, "recorded_at", entry.recorded_at);
    write_unless_default(json, "git_revision", entry.git_revision);
    write_unless_default(json, "until", entry.until);
    write_unless_default(json, "anchor_reset", entry.anchor_reset);
    write_unless_default(json, "cases", entry.cases);
    write_unless_default(json, "changes", entry.changes);
    write_unless_default(json, "digests", entry.digests);
    write_unless_default(json, "removed", entry.removed);
    json.end_object();
}

static void read(JsonValue value, LedgerEntry& entry) {
    read_optional(value, "case", entry.id);
    read_field(value, "at", entry.at);
    if (date_of(entry.at).empty()) {
        value.at("at").fail("expected a time of UTC, as 2026-11-21T10:00:00Z");
    }
    read_choice(value.at("action"),
                {LedgerAction::accept, LedgerAction::acknowledge, LedgerAction::refresh,
                 LedgerAction::prune},
                entry.action);
    read_optional(value, "by", entry.by);
    read_optional(value, "reason", entry.reason);
    read_optional(value, "recorded_at", entry.recorded_at);
    read_optional(value, "git_revision", entry.git_revision);
    read_optional(value, "until", entry.until);
    read_optional(value, "anchor_reset", entry.anchor_reset);
    read_optional(value, "cases", entry.cases);
    read_optional(value, "changes", entry.changes);
    read_optional(value, "digests", entry.digests);
    read_optional(value, "removed", entry.removed);
    if (entry.id.empty() != (entry.action == LedgerAction::refresh)) {
        value.fail("expected a case, but for a refresh, which is of many");
    }
}

std::string_view to_text(LedgerAction action) {
    switch (action) {
        case LedgerAction::accept:
            return "accept";
        case LedgerAction::acknowledge:
            return "acknowledge";
        case LedgerAction::refresh:
            return "refresh";
        case LedgerAction::prune:
            return "prune";
    }
    return "unknown";
}

std::string write_ledger(Ledger ledger) {
    std::stable_sort(ledger.entries.begin(), ledger.entries.end(),
                     [](const LedgerEntry& left, const LedgerEntry& right) {
                         return std::tie(left.id, left.at) < std::tie(right.id, right.at);
                     });
    JsonWriter head(JsonLayout::compact);
    head.begin_object(JsonLayout::compact);
    write_field(head, "schema", schema);
    write_field(head, "version", version);
    write_field(head, "suite", ledger.suite);
    write_field(head, "device", ledger.device_key);
    head.end_object();
    std::string text = head.finish() + '\n';
    for (const LedgerEntry& entry : ledger.entries) {
        JsonWriter line(JsonLayout::compact);
        write(line, entry);
        text += line.finish() + '\n';
    }
    return text;
}

Ledger parse_ledger(std::string_view text, std::string_view source) {
    Ledger ledger;
    std::size_t number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const JsonDocument document(std::string(line), fmt::format("{}:{}", source, ++number));
        const JsonValue root = document.root();
        if (number > 1 && !root.find("schema")) {
            read(root, ledger.entries.emplace_back());
            continue;
        }
        check_schema(document, schema, oldest_version, version);
        std::string suite, device_key;
        read_field(root, "suite", suite);
        read_field(root, "device", device_key);
        if (number > 1 && (suite != ledger.suite || device_key != ledger.device_key)) {
            root.fail("expected the suite and device of the first line");
        }
        ledger.suite = std::move(suite);
        ledger.device_key = std::move(device_key);
    }
    if (number == 0) {
        throw InputError(
            fmt::format("{}: expected a ledger, found an empty file", printable(source)));
    }
    return ledger;
}

}  // namespace perfgate::model
