// SPDX-License-Identifier: Apache-2.0
#include "kinds/source/source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <system_error>

#include "util/text.hpp"

namespace perfgate::source {

namespace {

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

std::string joined(const std::vector<std::string>& words) {
    return words.empty() ? "none" : fmt::format("{}", fmt::join(words, " "));
}

std::string words(const model::SourceCheck& check) {
    if (check.kind == model::SourceCheck::Kind::none) return "none";
    return fmt::format("{}, rtol {}, atol {}", check.against, util::number_text(check.rtol),
                       util::number_text(check.atol));
}

std::string words(const std::vector<std::pair<std::string, std::string>>& definitions) {
    std::vector<std::string> all;
    all.reserve(definitions.size());
    for (const auto& [name, value] : definitions) all.push_back(fmt::format("{}={}", name, value));
    return joined(all);
}

std::string words(const model::CompileOptions& options) {
    return fmt::format("{}{}, include {}, define {}", options.standard,
                       options.fast_math ? ", fast math" : "", joined(options.include),
                       words(options.defines));
}

std::string launch_words(const model::SourceKernel& kernel) {
    return fmt::format("grid {}, block {}, shared {}", fmt::join(kernel.grid, "x"),
                       fmt::join(kernel.block, "x"), kernel.shared_bytes);
}

}  // namespace

model::MeasuredAs Source::measured_as() const {
    std::vector<std::string> arguments;
    arguments.reserve(kernel_.arguments.size());
    for (const model::SourceArgument& argument : kernel_.arguments) {
        arguments.push_back(text_of(argument));
    }
    model::MeasuredAs all{
        {"arguments", arguments.empty() ? "none" : fmt::format("{}", fmt::join(arguments, ", "))}};
    if (kernel_.work != model::Work{}) {
        all[std::string(model::work_key)] =
            fmt::format("flops {} {}, bytes {}", util::number_text(kernel_.work.flops),
                        kernel_.work.arithmetic.empty() ? "of no type" : kernel_.work.arithmetic,
                        util::number_text(kernel_.work.bytes));
    }
    return all;
}

std::vector<model::StatedFact> Source::stated() const {
    return {{"source", kernel_.file},
            {"kernel", kernel_.kernel},
            {"launch", launch_words(kernel_)},
            {"check", words(kernel_.check)},
            {"compiling", words(kernel_.options)}};
}

std::string Source::identity() const {
    return fmt::format(", code {}, kernel {}, launch {}, checked by {} within {} and {}",
                       kernel_.code.digest, kernel_.code.kernel_symbol,
                       model::set_up_fingerprint(kernel_),
                       kernel_.check.against.empty() ? "nothing" : kernel_.check.against,
                       kernel_.check.rtol, kernel_.check.atol);
}

std::shared_ptr<const model::Subject> Source::placed(const model::Placement& placement) const {
    model::SourceKernel kernel = kernel_;
    kernel.folder = placement.folder(kernel.folder);
    return std::make_shared<const Source>(std::move(kernel));
}

std::string Source::absent(const model::CaseSpec& /*spec*/,
                           const model::WorkloadCatalogue& /*offered*/) const {
    std::error_code error;
    const auto file = std::filesystem::path(kernel_.folder) / kernel_.file;
    if (std::filesystem::exists(file, error)) return {};
    return fmt::format("it has no file '{}'", kernel_.file);
}

}  // namespace perfgate::source
