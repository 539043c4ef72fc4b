// SPDX-License-Identifier: Apache-2.0
#include "runner/same_sides.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

namespace fs = std::filesystem;

/// The file that a word of a command line names, without links; empty: it names none. A program
/// without a folder is looked up in PATH and is the interpreter of what follows.
fs::path file_of(const model::Command& command, std::size_t index) {
    const std::string& word = command.words[index];
    if (index == 0 && word.find('/') == std::string::npos) return {};
    std::error_code error;
    const fs::path file = fs::path(command.folder) / word;
    if (!fs::is_regular_file(file, error)) return {};
    return fs::canonical(file, error);
}

bool is_elf(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::string start(4, '\0');
    stream.read(start.data(), static_cast<std::streamsize>(start.size()));
    return stream && start ==
                         "\x7f"
                         "ELF";
}

bool equal_content(const fs::path& a, const fs::path& b) {
    std::error_code error;
    if (fs::file_size(a, error) != fs::file_size(b, error) || error) return false;
    const std::string print = util::fingerprint_of_file(a);
    return !print.empty() && print == util::fingerprint_of_file(b);
}

/// Empty: a file that the command names differs, or it names none. Of scripts equal content says
/// nothing: what they run or import may differ.
std::string note_on(const model::Command& base, const model::Command& head) {
    if (base.environment != head.environment || base.words != head.words) return {};
    fs::path first;
    bool same_files = true;
    for (std::size_t i = 0; i < base.words.size(); ++i) {
        const fs::path of_base = file_of(base, i);
        const fs::path of_head = file_of(head, i);
        if (of_base.empty() && of_head.empty()) continue;
        if (of_base.empty() || of_head.empty()) return {};
        if (of_base != of_head) {
            if (!is_elf(of_base) || !equal_content(of_base, of_head)) return {};
            same_files = false;
        }
        if (first.empty()) first = of_head;
    }
    if (first.empty()) return {};
    return same_files
               ? fmt::format("base and head run the same file {}: a change of it is not seen",
                             util::printable(first.native()))
               : fmt::format("base and head run the same program: {} has the same content in both",
                             util::printable(first.native()));
}

}  // namespace

std::map<std::string, std::vector<std::string>> same_program_notes(const BothPlans& plans) {
    std::map<std::string, std::vector<std::string>> notes;
    for (std::size_t s = 0; s < plans.head.suites.size(); ++s) {
        const model::PlannedSuite& suite = plans.head.suites[s];
        std::set<std::size_t> used;
        for (const model::PlannedCase& planned : suite.cases) {
            if (planned.program && planned.skip_reason.empty()) {
                used.insert(planned.program->command);
            }
        }
        std::set<std::string> of_suite;
        for (const std::size_t index : used) {
            std::string note = note_on(plans.base.suites[s].commands[index], suite.commands[index]);
            if (!note.empty()) of_suite.insert(std::move(note));
        }
        if (!of_suite.empty()) notes[suite.name] = {of_suite.begin(), of_suite.end()};
    }
    return notes;
}

}  // namespace perfgate::runner
