// SPDX-License-Identifier: Apache-2.0
#include "baseline/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "baseline/improvements.hpp"
#include "document/baseline.hpp"
#include "gate/renames.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::baseline {

namespace {

namespace fs = std::filesystem;

/// Names of files and folders without special meaning to a file system: no separators, no dots.
bool is_slug(std::string_view text) {
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789-_";
    return !text.empty() && text.size() <= 200 &&
           text.find_first_not_of(allowed) == std::string_view::npos;
}

void require_slug(std::string_view text, std::string_view what) {
    if (is_slug(text)) return;
    throw util::InputError(
        "{} '{}' cannot name a baseline: expected at most 200 of a-z, 0-9, '-' and '_'", what,
        util::printable(text));
}

/// Compares a field of the document with its path.
void require_place(std::string_view kind, std::string_view file, std::string_view field,
                   std::string_view found, std::string_view expected) {
    if (found == expected) return;
    throw util::InputError(
        "{} {}: {} is '{}', its place is that of '{}'; move the file where it belongs", kind,
        util::printable(file), field, util::printable(found), expected);
}

}  // namespace

fs::path baseline_path(const fs::path& folder, std::string_view device_key,
                       std::string_view suite) {
    require_slug(device_key, "device key");
    require_slug(suite, "suite");
    return folder / device_key / fmt::format("{}.json", suite);
}

gate::StoredBaseline read_baseline(const fs::path& file) {
    gate::StoredBaseline stored{file.string(), {}};
    stored.baseline = document::parse_baseline(
        util::read_file(file, baseline_limit_bytes, "baseline"), stored.file, &stored.older);
    return stored;
}

static model::Ledger parse_ledger(const fs::path& path, std::string_view text,
                                  std::string_view device_key, std::string_view suite) {
    model::Ledger ledger = document::parse_ledger(text, path.string());
    require_place("ledger", path.string(), "suite", ledger.suite, suite);
    require_place("ledger", path.string(), "device", ledger.device_key, device_key);
    return ledger;
}

/// The improvements that the folder's ledger notes; empty if there is no ledger.
static FirstSeen load_first_seen(const fs::path& folder, std::string_view device_key,
                                 std::string_view suite) {
    const fs::path path = ledger_path(folder, device_key, suite);
    std::error_code error;
    if (!fs::exists(path, error)) return {};
    const std::string text = util::read_file(path, ledger_limit_bytes, "ledger");
    // A ledger may be large, and most note none: those are not parsed.
    const std::string word = '"' + std::string(to_text(model::LedgerAction::improved)) + '"';
    if (text.find(word) == std::string::npos) return {};
    return first_seen(parse_ledger(path, text, device_key, suite));
}

std::optional<gate::StoredBaseline> load_baseline(const fs::path& folder,
                                                  std::string_view device_key,
                                                  std::string_view suite) {
    const fs::path path = baseline_path(folder, device_key, suite);
    std::error_code ignored;
    if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored)) {
        throw util::InputError("baselines folder {}: expected a folder, found a file",
                               util::printable(folder.string()));
    }
    // Does not follow links: a dangling link is a fault, not a missing baseline.
    if (fs::symlink_status(path, ignored).type() == fs::file_type::not_found) return std::nullopt;

    gate::StoredBaseline stored = read_baseline(path);
    require_place("baseline", stored.file, "suite", stored.baseline.suite, suite);
    require_place("baseline", stored.file, "device.key", stored.baseline.device.key, device_key);
    return stored;
}

gate::BaselineSet load_baselines(const fs::path& folder, const model::Device& device,
                                 const std::vector<std::string>& suites) {
    gate::BaselineSet baselines;
    for (const std::string& suite : suites) {
        auto stored = load_baseline(folder, device.key, suite);
        if (!stored) continue;
        gate::require_same_device(device, stored->baseline.device, stored->file);
        stored->improved = load_first_seen(folder, device.key, suite);
        baselines.insert_or_assign(suite, *std::move(stored));
    }
    return baselines;
}

gate::BaselineSet load_baselines(const fs::path& folder, const model::Run& run) {
    std::vector<std::string> suites;
    for (const model::SuiteResult& suite : run.suites) suites.push_back(suite.name);
    gate::BaselineSet baselines = load_baselines(folder, run.environment.device, suites);
    gate::follow_renames(run, baselines);
    return baselines;
}

std::vector<std::string> suites_with_baseline(const fs::path& folder, std::string_view device_key) {
    require_slug(device_key, "device key");
    const fs::path of_device = folder / device_key;
    std::vector<std::string> suites;
    std::error_code error;
    if (!fs::exists(of_device, error)) return suites;
    for (fs::directory_iterator entry(of_device, error), end; !error && entry != end;
         entry.increment(error)) {
        const fs::path name = entry->path().filename();
        if (name.extension() == ".json" && is_slug(name.stem().string())) {
            suites.push_back(name.stem().string());
        }
    }
    if (error) {
        throw util::InputError("cannot read the folder {}: {}", util::printable(of_device.string()),
                               error.message());
    }
    std::ranges::sort(suites);
    return suites;
}

std::vector<std::string> devices_with_baseline(const fs::path& folder, std::string_view suite) {
    require_slug(suite, "suite");
    std::vector<std::string> keys;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string key = entry->path().filename().string();
        std::error_code ignored;
        if (is_slug(key) && fs::exists(baseline_path(folder, key, suite), ignored)) {
            keys.push_back(key);
        }
    }
    std::ranges::sort(keys);
    return keys;
}

std::vector<std::string> other_gpus_with_baseline(const fs::path& folder,
                                                  std::string_view device_key,
                                                  std::string_view suite) {
    const auto model_of = [](std::string_view key) {
        const std::size_t end = key.find_last_not_of("0123456789");
        const bool counted = end != std::string_view::npos && end + 1 < key.size() && end > 0 &&
                             key.substr(end - 1, 2) == "-x";
        return counted ? key.substr(0, end - 1) : std::string_view();
    };
    const std::string_view model = model_of(device_key);
    std::vector<std::string> keys = devices_with_baseline(folder, suite);
    if (model.empty() || std::ranges::find(keys, device_key) != keys.end()) return {};
    std::erase_if(keys, [&](const std::string& key) { return model_of(key) != model; });
    return keys;
}

std::vector<BaselinePlace> stored_places(const fs::path& folder, std::vector<std::string>* faults) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
        throw util::InputError("{}: expected a folder of baselines",
                               util::printable(folder.string()));
    }
    std::set<BaselinePlace> places;
    for (const fs::directory_entry& device : fs::directory_iterator(folder)) {
        if (!device.is_directory(error) || device.path().filename() == staging_name) continue;
        const std::string key = device.path().filename().string();
        for (const fs::directory_entry& entry : fs::directory_iterator(device.path())) {
            std::string name = entry.path().filename().string();
            const std::string_view ending = name.ends_with(".ledger.jsonl") ? ".ledger.jsonl"
                                            : name.ends_with(".json")       ? ".json"
                                                                            : "";
            if (ending.empty()) continue;
            name.resize(name.size() - ending.size());
            if (is_slug(key) && is_slug(name)) {
                places.insert({key, name});
            } else if (faults != nullptr) {
                faults->push_back(fmt::format("{}: no device key and suite's name",
                                              util::printable(entry.path().string())));
            }
        }
    }
    return {places.begin(), places.end()};
}

/// Without cases there is no file. A file that already has this content is not touched.
static void add_baseline(const fs::path& folder, const model::Baseline& baseline,
                         std::vector<FileChange>& changes) {
    const fs::path path = baseline_path(folder, baseline.device.key, baseline.suite);
    FileChange change{baseline_path({}, baseline.device.key, baseline.suite), std::nullopt};
    if (!baseline.cases.empty()) {
        change.content = document::write_baseline(baseline);
        std::error_code ignored;
        if (fs::is_regular_file(fs::symlink_status(path, ignored)) &&
            fs::file_size(path, ignored) == change.content->size() &&
            util::read_file(path, baseline_limit_bytes, "baseline") == *change.content) {
            return;
        }
    }
    changes.push_back(std::move(change));
}

fs::path save_baseline(const fs::path& folder, const model::Baseline& baseline) {
    std::vector<FileChange> changes;
    add_baseline(folder, baseline, changes);
    change_files(folder, changes);
    return baseline_path(folder, baseline.device.key, baseline.suite);
}

fs::path ledger_path(const fs::path& folder, std::string_view device_key, std::string_view suite) {
    return baseline_path(folder, device_key, suite).replace_extension(".ledger.jsonl");
}

std::optional<model::Ledger> load_ledger(const fs::path& folder, std::string_view device_key,
                                         std::string_view suite) {
    const fs::path path = ledger_path(folder, device_key, suite);
    std::error_code ignored;
    if (fs::symlink_status(path, ignored).type() == fs::file_type::not_found) return std::nullopt;
    return parse_ledger(path, util::read_file(path, ledger_limit_bytes, "ledger"), device_key,
                        suite);
}

/// Files stay as they are written, byte for byte, and reviews fold the values. Two branches that
/// accept different cases both add lines, often at the same place: git must keep the lines of both.
/// A project's own file is not changed.
static void tell_git(const fs::path& folder, std::vector<FileChange>& changes) {
    static constexpr const char* attributes = ".gitattributes";
    std::error_code ignored;
    if (fs::symlink_status(folder / attributes, ignored).type() != fs::file_type::not_found) return;
    if (std::ranges::any_of(changes,
                            [](const FileChange& change) { return change.name == attributes; })) {
        return;
    }
    changes.push_back({attributes,
                       "# perfgate writes these byte for byte. Reviews fold the values; the ledger "
                       "says who accepted what.\n"
                       "*/*.json text eol=lf linguist-generated\n"
                       "# Acceptances of two branches merge: the lines of both stay.\n"
                       "*/*.ledger.jsonl text eol=lf merge=union\n"});
}

static void add_entries(const fs::path& folder, const std::string& device_key,
                        const std::string& suite, const std::vector<model::LedgerEntry>& entries,
                        std::vector<FileChange>& changes) {
    if (entries.empty()) return;
    model::Ledger ledger =
        load_ledger(folder, device_key, suite).value_or(model::Ledger{suite, device_key, {}});
    // Writers read the clock before they wait for the folder's lock. An acceptance is not older
    // than those that it replaces; what a run saw keeps the time of the run.
    const auto is_acceptance = [](const model::LedgerEntry& entry) {
        return entry.action != model::LedgerAction::improved;
    };
    std::string newest;
    for (const model::LedgerEntry& entry : ledger.entries) {
        if (is_acceptance(entry)) newest = std::max(newest, entry.at);
    }
    for (model::LedgerEntry entry : entries) {
        if (is_acceptance(entry)) entry.at = std::max(entry.at, newest);
        ledger.entries.push_back(std::move(entry));
    }
    tell_git(folder, changes);
    changes.push_back(
        {ledger_path({}, device_key, suite), document::write_ledger(std::move(ledger))});
}

void append_to_ledger(const fs::path& folder, const std::string& device_key,
                      const std::string& suite, const std::vector<model::LedgerEntry>& entries) {
    std::vector<FileChange> changes;
    add_entries(folder, device_key, suite, entries, changes);
    change_files(folder, changes);
}

void store_accepted(const BaselineLock& lock, const std::vector<AcceptedBaseline>& accepted) {
    std::vector<FileChange> changes;
    for (const AcceptedBaseline& each : accepted) {
        const model::Baseline& baseline = each.baseline;
        add_entries(lock.folder(), baseline.device.key, baseline.suite, each.entries, changes);
        add_baseline(lock.folder(), baseline, changes);
    }
    change_files(lock.folder(), changes);
}

}  // namespace perfgate::baseline
