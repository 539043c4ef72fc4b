// SPDX-License-Identifier: Apache-2.0
#include "kinds/command/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

#include "util/file.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::command {

namespace {

namespace fs = std::filesystem;

/// The program that a word without '/' names: found through its own PATH if it has one.
fs::path program_of(const std::string& word, const Command& command) {
    for (const auto& [name, value] : command.environment) {
        if (name == "PATH") return util::found_on_path(word, value, command.folder);
    }
    return util::found_on_path(word);
}

/// The file that a word of a command names: the first word is found through PATH, the others may
/// name a file in the command's folder. Empty: none.
fs::path identified_file(const std::string& word, bool is_program, const Command& command) {
    if (is_program && word.find('/') == std::string::npos) return program_of(word, command);
    // The word alone if it is absolute.
    const fs::path file = fs::path(command.folder) / word;
    std::error_code error;
    return fs::is_regular_file(file, error) ? file : fs::path{};
}

/// Of the program, of the script that an interpreter found through PATH is given (the first word
/// that names a file), and of the programs that they are to start. Further files may be data, or
/// what the program writes.
std::string files_text(const std::vector<std::string>& words, const Command& command) {
    std::string text;
    bool has_program = false;  // another than one found through PATH
    for (std::size_t i = 0; i < words.size(); ++i) {
        const fs::path file = identified_file(words[i], i == 0, command);
        if (file.empty()) continue;
        const bool first = i == 0 || !has_program;
        if (i > 0 || words[0].find('/') != std::string::npos) has_program = true;
        if (!first && access(file.c_str(), X_OK) != 0) continue;
        text += fmt::format(", {} is {}", words[i], util::fingerprint_of_file(file));
    }
    return text;
}

/// The file that a word of a command line names, without links; empty: it names none. A program
/// without a folder is looked up in PATH and is the interpreter of what follows.
fs::path compared_file(const Command& command, std::size_t index) {
    const std::string& word = command.words[index];
    if (index == 0 && word.find('/') == std::string::npos) return {};
    std::error_code error;
    const fs::path file = fs::path(command.folder) / word;
    if (!fs::is_regular_file(file, error)) return {};
    return fs::canonical(file, error);
}

/// An interpreter or a build tool: what it is given need not be a file.
bool runs_what_the_folder_has(std::string_view program) {
    constexpr std::string_view tools[] = {"bash", "bazel", "cargo", "cmake",  "ctest", "go",
                                          "java", "julia", "just",  "make",   "ninja", "node",
                                          "npm",  "npx",   "perl",  "poetry", "ruby",  "sh",
                                          "tox",  "uv",    "yarn"};
    return program.starts_with("python") || std::ranges::find(tools, program) != std::end(tools);
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

/// Empty: a file that the command names differs, or it names none and an interpreter or build tool
/// runs it. Scripts of equal content say nothing: what they run or import may differ.
std::string note_on(const Command& base, const Command& head) {
    if (base.environment != head.environment || base.words != head.words) return {};
    fs::path first;
    bool same_files = true;
    for (std::size_t i = 0; i < base.words.size(); ++i) {
        const fs::path of_base = compared_file(base, i);
        const fs::path of_head = compared_file(head, i);
        if (of_base.empty() && of_head.empty()) continue;
        if (of_base.empty() || of_head.empty()) return {};
        if (of_base != of_head) {
            if (!is_elf(of_base) || !equal_content(of_base, of_head)) return {};
            same_files = false;
        }
        if (first.empty()) first = of_head;
    }
    if (first.empty()) {
        first = program_of(head.words.front(), head);
        if (first.empty() || first != program_of(base.words.front(), base) ||
            runs_what_the_folder_has(head.words.front())) {
            return {};
        }
    }
    return same_files
               ? fmt::format("base and head run the same file {}: a change of it is not seen",
                             util::printable(first.native()))
               : fmt::format("base and head run the same program: {} has the same content in both",
                             util::printable(first.native()));
}

std::vector<model::SetVariable> set_variables_of(const Command& command) {
    std::vector<model::SetVariable> variables;
    for (const auto& [name, value] : command.environment) {
        const auto& hidden = command.overridden;
        const bool of_suite = std::ranges::find(hidden, name) == hidden.end();
        variables.push_back({name, of_suite ? std::optional(value) : std::nullopt});
    }
    return variables;
}

}  // namespace

void CommandSubject::describe(model::CaseResult& result) const {
    result.command = command_->words;
    result.env = set_variables_of(*command_);
}

std::string CommandSubject::group_identity() const {
    const Command& command = *command_;
    std::string text = fmt::format(
        "{} in {}, exit status {}, {} warm-up runs, {}, overhead up to {}, "
        "checked by {}",
        command.words, command.folder, command.exit_status, command.warm_up_runs,
        model::gpus_in_words(command.gpus), command.max_overhead, command.check);
    for (const auto& [name, value] : command.environment) {
        text += fmt::format(", {}={}", name, value);
    }
    if (!command.code) text += ", without machine code";
    if (command.capture.is_stated()) text += ", captured " + model::in_words(command.capture);
    return text + files_text(command.words, command) + files_text(command.check, command);
}

std::string CommandSubject::same_as(const model::Subject& base) const {
    const auto* other = dynamic_cast<const CommandSubject*>(&base);
    return other == nullptr ? "" : note_on(other->command(), *command_);
}

std::shared_ptr<const Command> CommandSubject::there(const model::Placement& placement) const {
    auto command = std::make_shared<Command>(*command_);
    command->folder = placement.folder(command->folder);
    for (const auto& [name, value] : placement.variables) {
        command->overridden.push_back(name);
        const auto found = std::ranges::find_if(
            command->environment,
            [&name = name](const auto& variable) { return variable.first == name; });
        if (found != command->environment.end()) {
            found->second = value;
        } else {
            command->environment.emplace_back(name, value);
        }
    }
    return command;
}

void Program::describe(model::CaseResult& result) const {
    CommandSubject::describe(result);
    result.max_overhead = command().max_overhead;
    switch (piece_.kind) {
        case Piece::Kind::program:
            result.instance = "run";
            break;
        case Piece::Kind::range:
            result.instance = result.spec.variant;
            break;
        case Piece::Kind::kernels:
            result.instance = piece_.within.empty() ? "launch" : piece_.within;
            break;
    }
}

std::string Program::identity() const {
    return fmt::format(", piece {}/{}/{}/{}/{}/{}/{}", static_cast<int>(piece_.kind),
                       piece_.pattern, piece_.within, piece_.own_thread, piece_.skip,
                       piece_.counted, model::in_words(piece_.size));
}

std::shared_ptr<const model::Subject> Program::placed(const model::Placement& placement) const {
    return std::make_shared<const Program>(there(placement), piece_);
}

const Command& command_of(const model::Subject& subject) {
    return dynamic_cast<const CommandSubject&>(subject).command();
}

const Piece& piece_of(const model::Subject& subject) {
    return dynamic_cast<const Program&>(subject).piece();
}

}  // namespace perfgate::command
