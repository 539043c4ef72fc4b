// SPDX-License-Identifier: Apache-2.0
#include "measure/identity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "util/file.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::measure {
namespace {

std::string source_text(const model::SourceKernel& source) {
    return fmt::format(", code {}, kernel {}, launch {}, checked by {} within {} and {}",
                       source.code.digest, source.code.kernel_symbol,
                       model::set_up_fingerprint(source),
                       source.check.against.empty() ? "nothing" : source.check.against,
                       source.check.rtol, source.check.atol);
}

std::string severity_text(const std::optional<model::Severity>& severity) {
    return severity ? fmt::format(", {}", to_text(*severity)) : "";
}

std::string settings_text(const model::PlannedCase& planned) {
    std::string text =
        fmt::format("seed {}, precision {}, time budget {} s, metrics {}", planned.seed,
                    planned.precision, planned.time_budget_s, fmt::join(planned.metrics, " "));
    for (const model::GateRule& gate : planned.gates) {
        text += fmt::format(", {} within {}/{}/{}/{}{}", gate.metric, gate.tolerance.worse,
                            gate.tolerance.better.value_or(-1), gate.tolerance.abs,
                            gate.cross_board, severity_text(gate.tolerance.severity));
    }
    if (planned.program) {
        const model::Piece& piece = planned.program->piece;
        text += fmt::format(", piece {}/{}/{}/{}/{}/{}/{}", static_cast<int>(piece.kind),
                            piece.pattern, piece.within, piece.own_thread, piece.skip,
                            piece.counted, model::in_words(piece.size));
    }
    if (planned.source) text += source_text(*planned.source);
    if (planned.deterministic) text += ", deterministic";
    return planned.skip_reason.empty() ? text : text + ", skipped: " + planned.skip_reason;
}

std::string reading_text(const model::BenchmarkReading& reading) {
    std::string text =
        fmt::format("read as {}, rows {}, names {}", reading.format, reading.rows, reading.name);
    for (const auto& [axis, place] : reading.axes) text += fmt::format(", {} in {}", axis, place);
    for (const model::BenchmarkValue& value : reading.values) {
        text += fmt::format(", {} in {} times {}, better {}", value.definition.name, value.from,
                            value.factor, to_text(value.definition.direction));
    }
    return text;
}

/// The program that a word without '/' names: found through its own PATH if it has one.
std::filesystem::path program_of(const std::string& word, const model::Command& command) {
    for (const auto& [name, value] : command.environment) {
        if (name == "PATH") return util::found_on_path(word, value, command.folder);
    }
    return util::found_on_path(word);
}

/// The file that a word of a command names: the first word is found through PATH, the others may
/// name a file in the command's folder. Empty: none.
std::filesystem::path file_of(const std::string& word, bool is_program,
                              const model::Command& command) {
    if (is_program && word.find('/') == std::string::npos) return program_of(word, command);
    // The word alone if it is absolute.
    const std::filesystem::path file = std::filesystem::path(command.folder) / word;
    std::error_code error;
    return std::filesystem::is_regular_file(file, error) ? file : std::filesystem::path{};
}

/// Of the program, of the script that an interpreter found through PATH is given (the first word
/// that names a file), and of the programs that they are to start. Further files may be data, or
/// what the program writes.
std::string files_text(const std::vector<std::string>& words, const model::Command& command) {
    std::string text;
    bool has_program = false;  // another than one found through PATH
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::filesystem::path file = file_of(words[i], i == 0, command);
        if (file.empty()) continue;
        const bool first = i == 0 || !has_program;
        if (i > 0 || words[0].find('/') != std::string::npos) has_program = true;
        if (!first && access(file.c_str(), X_OK) != 0) continue;
        text += fmt::format(", {} is {}", words[i], util::fingerprint_of_file(file));
    }
    return text;
}

std::string command_text(const model::Command& command) {
    std::string text = fmt::format(
        "{} in {}, exit status {}, {} warm-up runs, {}, overhead up to {}, "
        "checked by {}",
        command.words, command.folder, command.exit_status, command.warm_up_runs,
        util::counted(static_cast<std::size_t>(command.gpus), "GPU"), command.max_overhead,
        command.check);
    for (const auto& [name, value] : command.environment) {
        text += fmt::format(", {}={}", name, value);
    }
    if (command.capture.is_stated()) text += ", captured " + in_words(command.capture);
    text += files_text(command.words, command) + files_text(command.check, command);
    if (command.benchmark) text += ", " + reading_text(*command.benchmark);
    return text;
}

const std::string* find(const Identity& identity, const std::string& field) {
    const auto found = std::find_if(identity.begin(), identity.end(),
                                    [&](const auto& entry) { return entry.first == field; });
    return found == identity.end() ? nullptr : &found->second;
}

}  // namespace

Identity identity_of(const model::Plan& plan, const model::Environment& environment) {
    Identity identity{
        {"device", environment.device.key},
        {"board", environment.device.board},
        {"driver", environment.driver},
        {"CUDA driver", environment.cuda_driver},
        {"CUDA toolkit", environment.cuda_toolkit},
        {"CUPTI", environment.cupti},
        {"kernel", environment.kernel},
        {"cpu", environment.cpu},
    };
    for (const model::PlannedSuite& suite : plan.suites) {
        for (const model::Command& command : suite.commands) {
            identity.emplace_back(fmt::format("command {}: {}", suite.name, command.name),
                                  command_text(command));
        }
        for (const model::PlannedCase& planned : suite.cases) {
            identity.emplace_back(
                fmt::format("case {}: {}", suite.name, model::case_id(planned.spec)),
                settings_text(planned));
        }
    }
    return identity;
}

std::string difference(const Identity& before, const Identity& now) {
    // At the first difference, by field: names a case that was added, not the one that it
    // displaced.
    const auto quoted = [](const std::string* value) {
        return value ? fmt::format("'{}'", util::printable(*value)) : std::string("absent");
    };
    const auto say = [&](const std::string& field, const std::string* was, const std::string* is) {
        return fmt::format("{} was {}, is now {}", util::printable(field), quoted(was), quoted(is));
    };
    for (std::size_t i = 0; i < std::max(before.size(), now.size()); ++i) {
        if (i < before.size() && i < now.size() && before[i] == now[i]) continue;
        if (i < now.size()) {
            const std::string* was = find(before, now[i].first);
            if (!was || *was != now[i].second) return say(now[i].first, was, &now[i].second);
        }
        if (i < before.size()) {
            const std::string* is = find(now, before[i].first);
            if (!is || *is != before[i].second) return say(before[i].first, &before[i].second, is);
        }
        return "the cases are in another order";
    }
    return {};
}

}  // namespace perfgate::measure
