// SPDX-License-Identifier: Apache-2.0
// configs/*.schema.json and the tables of keys in the documents are as the rows of the keys say.
// PERFGATE_UPDATE_GOLDEN=1 writes them anew: read the diff before committing it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "suite/keys.hpp"
#include "suite_schema.hpp"

namespace perfgate::suite {
namespace suite_schema_test {

const std::string root = PERFGATE_ROOT "/";

std::string read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(root + path).rdbuf();
    return text.str();
}

void expect_file(const std::string& path, const std::string& text) {
    if (std::getenv("PERFGATE_UPDATE_GOLDEN") != nullptr) std::ofstream(root + path) << text;
    EXPECT_EQ(read(path), text) << path;
}

/// JSON with a member or item a line.
std::string indented(const std::string& json) {
    std::string text;
    std::size_t depth = 0;
    bool in_string = false;
    const auto new_line = [&] { text += '\n' + std::string(2 * depth, ' '); };
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (in_string) {
            text += c;
            if (c == '\\') text += json[++i];
            if (c == '"') in_string = false;
        } else if (c == '{' || c == '[') {
            text += c;
            ++depth;
            new_line();
        } else if (c == '}' || c == ']') {
            --depth;
            new_line();
            text += c;
        } else if (c == ',') {
            text += c;
            new_line();
        } else if (c == ':') {
            text += ": ";
        } else if (c != ' ' && c != '\n') {
            in_string = c == '"';
            text += c;
        }
    }
    return text + '\n';
}

TEST(SuiteSchema, IsMadeFromTheKeys) {
    expect_file("configs/suite.schema.json", indented(suite_schema()));
    expect_file("configs/config.schema.json", indented(profile_schema()));
}

/// The document with its tables between `<!-- keys: NAME -->` and `<!-- end of keys -->` anew; the
/// names of the tables are added to `found`.
std::string with_tables(const std::string& document, std::set<std::string>& found) {
    const std::string begin = "<!-- keys: ";
    const std::string end = "<!-- end of keys -->";
    std::string text;
    std::size_t at = 0;
    for (std::size_t mark = document.find(begin); mark != std::string::npos;
         mark = document.find(begin, at)) {
        const std::size_t line_end = document.find('\n', mark);
        const std::size_t stop = document.find(end, mark);
        EXPECT_NE(stop, std::string::npos);
        std::string name = document.substr(mark + begin.size(), line_end - mark - begin.size());
        name.resize(name.find(' '));
        text += document.substr(at, line_end + 1 - at) + '\n' + key_table(name) + '\n';
        found.insert(name);
        at = stop;
    }
    return text + document.substr(at);
}

TEST(SuiteSchema, TheDocumentsHaveTheTablesOfKeys) {
    std::set<std::string> found;
    for (const char* path : {"suites/README.md", "docs/programs.md", "docs/benchmarks.md",
                             "docs/sources.md", "docs/python.md", "docs/command-line.md"}) {
        expect_file(path, with_tables(read(path), found));
    }
    EXPECT_EQ(found, (std::set<std::string>{"suite", "plugin", "settings", "command", "label",
                                            "benchmark", "source", "work", "python", "profile"}));
}

TEST(SuiteSchema, EachKeyIsDescribed) {
    for (const auto& table :
         {tables::profile(), tables::suite(), tables::settings(), tables::tolerance(),
          tables::overriding(), tables::plugin(), tables::command(), tables::capture(),
          tables::label(), tables::health(), tables::benchmark(), tables::value(), tables::source(),
          tables::python(), tables::launch(), tables::check(), tables::work()}) {
        EXPECT_FALSE(table.empty());
        for (const KeyText& key : table) {
            EXPECT_TRUE(key.help.ends_with('.')) << key.name << ": " << key.help;
            EXPECT_FALSE(key.schema.empty()) << key.name;
        }
    }
}

}  // namespace suite_schema_test
}  // namespace perfgate::suite
