// SPDX-License-Identifier: Apache-2.0
// Every document that is recorded in the repository is read, and written again to the same bytes
// but for its version, renamed keys, and equal kernels, which versions 1 and 2 write out.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "document/baseline.hpp"
#include "document/json_reader.hpp"
#include "document/run.hpp"
#include "util/file.hpp"

namespace perfgate::document {
namespace {

namespace fs = std::filesystem;

std::string written_again(const std::string& text, const std::string& name) {
    if (name.ends_with(".jsonl")) return write_ledger(parse_ledger(text, name));
    if (text.starts_with('[')) return "";  // a report that another tool reads
    const JsonDocument document(text, name);
    const auto schema = document.root().find("schema");
    if (!schema) return "";                            // the golden data of the HTML page
    if (schema->text() == "perfgate.code") return "";  // only written while measuring
    if (schema->text() == "perfgate.run") return write_run(parse_run(text, name));
    if (schema->text() == "perfgate.baseline") return write_baseline(parse_baseline(text, name));
    if (schema->text() == "perfgate.verdict") return write_verdict(parse_verdict(text, name));
    ADD_FAILURE() << name << " has the schema " << schema->text();
    return "";
}

std::vector<fs::path> recorded() {
    std::vector<fs::path> files;
    for (const char* folder : {"baselines", "tests/data"}) {
        for (const auto& entry :
             fs::recursive_directory_iterator(fs::path(PERFGATE_SOURCE_DIR) / folder)) {
            const fs::path& path = entry.path();
            // Results of other tools.
            if (path.parent_path().filename() == "benchmarks") continue;
            if (path.extension() == ".json" || path.extension() == ".jsonl") files.push_back(path);
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
        text.replace(at, from.size(), to);
    }
}

/// A document of version 3 with the version of `like`, the keys of versions 1 and 2 and each kernel
/// written out; a ledger, whose head is on one line, with the head of `like`.
std::string as_before(const std::string& text, const std::string& like) {
    if (text.starts_with("{\"schema\":\"perfgate.ledger\"")) {
        return like.substr(0, like.find('\n')) + text.substr(text.find('\n'));
    }
    const auto version_line = [](const std::string& of) {
        const std::size_t at = of.find("  \"version\": ");
        return of.substr(at, of.find('\n', at) - at);
    };
    const std::string newest = "  \"version\": 3,";
    std::istringstream lines(text);
    std::string result;
    for (std::string line; std::getline(lines, line);) {
        if (line == newest) line = version_line(like);
        replace_all(line, ",\"excluded\":", ",\"set_aside\":");
        replace_all(line, ",\"minimum_detectable_change\":", ",\"sees\":");
        const std::size_t at = line.rfind(",\"count\":");
        std::size_t digits = 0;
        const int count = at == std::string::npos ? 1 : std::stoi(line.substr(at + 9), &digits);
        const std::string rest = at == std::string::npos ? "" : line.substr(at + 9 + digits);
        if (at != std::string::npos) line.resize(at);
        for (int n = 1; n < count; ++n) result += line + "},\n";
        result += line + rest + '\n';
    }
    return result;
}

TEST(RecordedDocuments, AreWrittenAgainToTheSameBytes) {
    int same = 0;
    for (const fs::path& path : recorded()) {
        SCOPED_TRACE(path.string());
        const std::string text = util::read_file(path, std::size_t{1} << 30, "document");
        const std::string again = written_again(text, path.filename().string());
        if (again == text || as_before(again, text) == text) {
            ++same;
            continue;
        }
        // An older version, or a ledger as a merge has put it: from then on it stays as it is.
        if (again.empty()) continue;
        EXPECT_EQ(written_again(again, path.filename().string()), again);
    }
    EXPECT_GE(same, 85);
}

}  // namespace
}  // namespace perfgate::document
