// SPDX-License-Identifier: Apache-2.0
#include "suite/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <vector>

#include "metrics/catalogue.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

std::string words_of(const std::vector<std::string>& words) {
    std::vector<std::string> quoted;
    quoted.reserve(words.size());
    for (const std::string& word : words) quoted.push_back(util::shell_word(word));
    return fmt::format("{}", fmt::join(quoted, " "));
}

/// "nvtx 'step*', skip 1"; empty: the whole program, or a result, whose name is in the case's id.
std::string text_of(const model::Piece& piece) {
    using Kind = model::Piece::Kind;
    if (piece.kind == Kind::program || piece.kind == Kind::result) return {};
    std::string text = fmt::format("{} {}", piece.kind == Kind::range ? "nvtx" : "kernel",
                                   util::shell_word(piece.pattern));
    if (!piece.size.is_any()) text += " with " + model::in_words(piece.size);
    if (!piece.within.empty()) text += " within " + util::shell_word(piece.within);
    if (piece.skip != 0) text += fmt::format(", skip {}", piece.skip);
    if (piece.own_thread) text += ", own thread";
    if (piece.counted != 1) text += fmt::format(", count {}", piece.counted);
    return text;
}

/// "./build/" and "build" are the same folder.
std::string folder_text(const std::string& folder) {
    std::string text = std::filesystem::path(folder).lexically_normal().native();
    if (text.size() > 1 && text.ends_with('/')) text.pop_back();
    return text == "." ? "" : text;
}

void add(const model::BenchmarkReading& reading, model::MeasuredAs& to) {
    to["format"] = reading.format;
    if (!reading.rows.empty()) to["rows"] = reading.rows;
    if (!reading.name.empty()) to["case"] = reading.name;
    for (const auto& [axis, place] : reading.axes) to["axes." + axis] = place;
    for (const model::BenchmarkValue& value : reading.values) {
        to[std::string(model::value_key) + value.definition.name] = fmt::format(
            "{}, times {}, {}", value.from, util::number_text(value.factor), value.definition.unit);
        // The catalogue's never changes.
        if (metrics::find_metric(value.definition.name)) continue;
        to[model::direction_key(value.definition.name)] = to_text(value.definition.direction);
    }
}

std::string text_of(const model::SourceArgument& argument) {
    std::string text = fmt::format("{} {}", to_text(argument.role), to_text(argument.type));
    const std::string value = is_integer(argument.type) ? std::to_string(argument.integer)
                                                        : util::number_text(argument.real);
    if (argument.role == model::SourceArgument::Role::value) return text + ' ' + value;
    text += fmt::format("[{}]", argument.elements);
    if (argument.role == model::SourceArgument::Role::out) return text;
    text += fmt::format(" {}", to_text(argument.fill));
    return argument.fill == model::SourceArgument::Fill::constant ? text + ' ' + value : text;
}

}  // namespace

model::MeasuredAs measured_as(const model::Command& command, const model::Piece& piece) {
    model::MeasuredAs all{{"command", words_of(command.words)}};
    for (const auto& [name, value] : command.environment) all["env." + name] = value;
    const auto add_if_stated = [&](const char* key, std::string text) {
        if (!text.empty()) all[key] = std::move(text);
    };
    add_if_stated("cwd", folder_text(command.folder));
    add_if_stated("capture", in_words(command.capture));
    add_if_stated("measure", text_of(piece));
    if (command.gpus != 1) all["gpus"] = std::to_string(command.gpus);
    if (command.exit_status != 0) all["exit"] = std::to_string(command.exit_status);
    if (command.warm_up_runs != 0) all["warmup"] = std::to_string(command.warm_up_runs);
    if (command.benchmark) add(*command.benchmark, all);
    return all;
}

model::MeasuredAs measured_as(const model::SourceKernel& kernel) {
    std::vector<std::string> arguments;
    arguments.reserve(kernel.arguments.size());
    for (const model::SourceArgument& argument : kernel.arguments) {
        arguments.push_back(text_of(argument));
    }
    model::MeasuredAs all{
        {"arguments", arguments.empty() ? "none" : fmt::format("{}", fmt::join(arguments, ", "))}};
    if (kernel.work != model::Work{}) {
        all[std::string(model::work_key)] =
            fmt::format("flops {} {}, bytes {}", util::number_text(kernel.work.flops),
                        kernel.work.arithmetic.empty() ? "of no type" : kernel.work.arithmetic,
                        util::number_text(kernel.work.bytes));
    }
    return all;
}

}  // namespace perfgate::suite
