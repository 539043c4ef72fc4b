// SPDX-License-Identifier: Apache-2.0
#include "measure/journal.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "document/shared.hpp"
#include "measure/batches.hpp"
#include "util/error.hpp"
#include "util/folder.hpp"
#include "util/text.hpp"

namespace perfgate::measure {
namespace {

namespace fs = std::filesystem;
using document::Described;
using document::JsonValue;

constexpr const char* file_name = "journal.jsonl";
constexpr std::size_t journal_limit_bytes = std::size_t{1} << 30;
constexpr std::int64_t version = 2;

/// A line after the header: a case, more batches of a case on an earlier line, or the end.
struct Line {
    std::string suite;
    std::optional<model::CaseResult> whole, batches;
    bool finished = false;
};

template <class Archive>
void describe(Archive& archive, Described<Archive, Line>& of) {
    PERFGATE_GROUPS(optional(finished));
    if (of.finished) return;
    PERFGATE_GROUPS(required(suite), named(optional, "case", whole));
    if (!of.whole) archive.required("batches", of.batches);
}

void write_identity(document::JsonWriter& json, const Identity& identity) {
    json.begin_array(document::JsonLayout::compact);
    for (const auto& [field, value] : identity) {
        write(json, std::vector<std::string>{field, value});
    }
    json.end_array();
}

void read_identity(JsonValue value, Identity& identity) {
    value.elements([&](JsonValue pair) {
        std::vector<std::string> words;
        read(pair, words);
        if (words.size() != 2) pair.fail("expected a field and its value");
        identity.emplace_back(std::move(words[0]), std::move(words[1]));
    });
}

}  // namespace

template <class Archive>
void describe(Archive& archive, Described<Archive, JournalHeader>& of) {
    const auto is_ours = [](JsonValue value, std::int64_t found) {
        if (found != version) {
            value.fail("it was written by another perfgate; measure again without --resume");
        }
    };
    std::int64_t written = version;
    archive.required("journal", written, is_ours);
    PERFGATE_GROUPS(
        required(started_at, verify_seed),
        with(required, identity, document::Form<Identity>{write_identity, read_identity}));
}

JournalContent read_journal(const fs::path& folder) {
    const fs::path path = folder / file_name;
    const std::string text = util::read_file(path, journal_limit_bytes, "journal");
    JournalContent content;
    bool first = true;
    std::string_view rest = text;
    for (int number = 1;; ++number) {
        const std::size_t end = rest.find('\n');
        if (end == std::string_view::npos) break;  // what is left was cut off
        const std::string place = fmt::format("{}:{}", path.string(), number);
        const document::JsonDocument parsed(std::string(rest.substr(0, end)), place);
        const JsonValue root = parsed.root();
        if (first) {
            read(root, content.header);
        } else {
            Line line;
            read(root, line);
            content.finished = line.finished;
            if (line.finished) {
                rest.remove_prefix(end + 1);
                continue;
            }
            model::CaseResult& result = line.whole ? *line.whole : *line.batches;
            const std::pair key(line.suite, model::case_id(result.spec));
            if (line.whole) {
                content.cases.insert_or_assign(key, std::move(result));
            } else {
                const auto found = content.cases.find(key);
                if (found == content.cases.end()) root.fail("batches of a case that is not there");
                join_batches(found->second, std::move(result));
            }
        }
        first = false;
        rest.remove_prefix(end + 1);
    }
    if (first) {
        throw util::InputError(
            fmt::format("{}: it has no header; there is nothing to resume", path.string()));
    }
    content.whole_bytes = text.size() - rest.size();
    return content;
}

void remove_journal(const fs::path& folder) {
    util::remove_below(folder, file_name);
}

Journal::Journal(const fs::path& folder, const JournalHeader& header) : path_(folder / file_name) {
    try {
        file_ = util::Folder(folder).create(file_name);
    } catch (const util::Error& error) {
        throw util::InputError(fmt::format("{}; name another folder with --out", error.what()));
    }
    append(document::write_line(header));
}

Journal::Journal(const fs::path& folder, const JournalContent& content)
    : path_(folder / file_name) {
    file_ = util::Folder(folder).append(file_name);
    if (::ftruncate(file_.get(), static_cast<off_t>(content.whole_bytes)) != 0) {
        problem_ = fmt::format("{}: cannot be cut: {}", path_.string(), std::strerror(errno));
    }
}

void Journal::add(const std::string& suite, const model::CaseResult& result) {
    append(document::write_line(Line{suite, result, std::nullopt, false}));
}

void Journal::add_batches(const std::string& suite, const model::CaseResult& more) {
    append(document::write_line(Line{suite, std::nullopt, more, false}));
}

void Journal::finish() {
    append(document::write_line(Line{{}, std::nullopt, std::nullopt, true}));
}

std::string Journal::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}

void Journal::append(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (!problem_.empty()) return;
    const std::string line = text + "\n";
    std::size_t written = 0;
    while (written < line.size()) {
        const ssize_t count = ::write(file_.get(), line.data() + written, line.size() - written);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            problem_ = fmt::format(
                "{}: cannot be written: {}; --resume measures what is missing from it",
                path_.string(), count < 0 ? std::strerror(errno) : "nothing was written");
            return;
        }
        written += static_cast<std::size_t>(count);
    }
    ::fdatasync(file_.get());
}

}  // namespace perfgate::measure
