// SPDX-License-Identifier: Apache-2.0
#include "measure/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "measure/batches.hpp"
#include "model/error.hpp"
#include "model/file.hpp"
#include "model/json_reader.hpp"
#include "model/json_writer.hpp"
#include "model/shared_json.hpp"
#include "model/text.hpp"

namespace perfgate::measure {
namespace {

namespace fs = std::filesystem;
using model::JsonLayout;
using model::JsonValue;
using model::JsonWriter;

constexpr const char* file_name = "journal.jsonl";
constexpr std::size_t journal_limit_bytes = std::size_t{1} << 30;
constexpr std::int64_t version = 1;

std::string header_line(const JournalHeader& header) {
    JsonWriter json(JsonLayout::compact);
    json.begin_object(JsonLayout::compact);
    write_field(json, "journal", version);
    write_field(json, "started_at", header.started_at);
    write_field(json, "verify_seed", header.verify_seed);
    json.key("identity");
    json.begin_array(JsonLayout::compact);
    for (const auto& [field, value] : header.identity) {
        json.begin_array(JsonLayout::compact);
        json.value(field);
        json.value(value);
        json.end_array();
    }
    json.end_array();
    json.end_object();
    return json.finish();
}

JournalHeader read_header(JsonValue root) {
    JournalHeader header;
    if (root.at("journal").integer() != version)
        root.fail("another perfgate wrote it; measure anew, without --resume");
    read_field(root, "started_at", header.started_at);
    read_field(root, "verify_seed", header.verify_seed);
    root.at("identity").elements([&](JsonValue pair) {
        std::vector<std::string> words;
        read(pair, words);
        if (words.size() != 2) pair.fail("expected a field and its value");
        header.identity.emplace_back(std::move(words[0]), std::move(words[1]));
    });
    return header;
}

}  // namespace

JournalContent read_journal(const fs::path& folder) {
    const fs::path path = folder / file_name;
    const std::string text = model::read_file(path, journal_limit_bytes, "journal");
    JournalContent content;
    bool first = true;
    std::string_view rest = text;
    for (int number = 1;; ++number) {
        const std::size_t end = rest.find('\n');
        if (end == std::string_view::npos) break;  // what is left was cut off
        const std::string place = fmt::format("{}:{}", path.string(), number);
        const model::JsonDocument document(std::string(rest.substr(0, end)), place);
        const JsonValue root = document.root();
        if (first) {
            content.header = read_header(root);
        } else {
            const bool whole = root.find("case").has_value();
            model::CaseResult result;
            read(root.at(whole ? "case" : "batches"), result);
            const std::pair key(std::string(root.at("suite").text()), model::case_id(result.spec));
            if (whole) {
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
    if (first)
        throw model::InputError(
            fmt::format("{}: it has no header; nothing was measured that could be gone on with",
                        path.string()));
    content.whole_bytes = text.size() - rest.size();
    return content;
}

Journal::Journal(const fs::path& folder, const JournalHeader& header) : path_(folder / file_name) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        throw model::InputError(
            fmt::format("output folder {}: cannot be created: {}; name another with --out",
                        folder.string(), error.message()));
    open(O_CREAT | O_TRUNC);
    append(header_line(header));
}

Journal::Journal(const fs::path& folder, const JournalContent& content)
    : path_(folder / file_name) {
    open(O_APPEND);
    if (::ftruncate(fd_, static_cast<off_t>(content.whole_bytes)) != 0)
        problem_ = fmt::format("{}: cannot be cut: {}", path_.string(), std::strerror(errno));
}

Journal::~Journal() {
    if (fd_ >= 0) ::close(fd_);
}

void Journal::open(int flags) {
    // O_NONBLOCK: opening a pipe that nobody reads must not wait.
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags, 0644);
    const int error = errno;
    struct stat status {};
    const bool is_pipe = fd_ < 0 ? error == ENXIO
                                 : ::fstat(fd_, &status) == 0 &&
                                       (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
    if (is_pipe) {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
        throw model::InputError(
            fmt::format("{}: expected a file, found a pipe; remove it or name another folder with "
                        "--out",
                        path_.string()));
    }
    if (fd_ < 0)
        throw model::InputError(
            fmt::format("{}: cannot be written: {}; name another folder with --out", path_.string(),
                        std::strerror(error)));
}

void Journal::add(const std::string& suite, const model::CaseResult& result) {
    // The suite's name is [a-z0-9_-]+ and needs no escaping.
    append(fmt::format(R"({{"suite":"{}","case":{}}})", suite, model::write_case_line(result)));
}

void Journal::add_batches(const std::string& suite, const model::CaseResult& more) {
    append(fmt::format(R"({{"suite":"{}","batches":{}}})", suite, model::write_case_line(more)));
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
        const ssize_t count = ::write(fd_, line.data() + written, line.size() - written);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            problem_ =
                fmt::format("{}: cannot be written: {}; --resume will measure again what it lacks",
                            path_.string(), count < 0 ? std::strerror(errno) : "nothing went in");
            return;
        }
        written += static_cast<std::size_t>(count);
    }
    ::fdatasync(fd_);
}

}  // namespace perfgate::measure
