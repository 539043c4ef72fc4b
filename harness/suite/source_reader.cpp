// SPDX-License-Identifier: Apache-2.0
#include "suite/source_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include "model/command_words.hpp"
#include "model/text.hpp"
#include "suite/entry_reader.hpp"
#include "suite/fields.hpp"
#include "suite/matrix_parameters.hpp"
#include "suite/settings.hpp"

namespace perfgate::suite {

namespace {

using model::ElementType;
using model::SourceArgument;
using model::SourceCheck;
using Role = SourceArgument::Role;
using Fill = SourceArgument::Fill;

constexpr std::size_t most_arguments = 64;
constexpr std::size_t most_items = 100;  ///< of `include`, `define` and `architectures`
constexpr std::size_t longest_kernel = 256;

constexpr std::array<std::string_view, 14> own_keys{
    "source", "kernel", "name",      "variant",       "launch", "arguments", "check",
    "matrix", "std",    "fast_math", "architectures", "tags",   "overrides", "include"};
constexpr std::array<std::string_view, 3> launch_keys{"grid", "block", "shared"};
constexpr std::array<std::string_view, 3> check_keys{"against", "rtol", "atol"};
constexpr std::array<std::string_view, 11> argument_keys{
    "in", "out", "inout", "i32", "i64", "u32", "u64", "f32", "f64", "size", "fill"};

constexpr std::array buffer_types{ElementType::f16, ElementType::bf16, ElementType::f32,
                                  ElementType::f64, ElementType::i8,   ElementType::i16,
                                  ElementType::i32, ElementType::i64,  ElementType::u8,
                                  ElementType::u16, ElementType::u32,  ElementType::u64};
constexpr std::array value_types{ElementType::i32, ElementType::i64, ElementType::u32,
                                 ElementType::u64, ElementType::f32, ElementType::f64};

/// Of compiling; other files are machine code already, or nearly.
constexpr std::array<std::string_view, 5> compile_keys{"include", "define", "std", "fast_math",
                                                       "architectures"};

std::vector<std::string_view> source_keys() {
    std::vector<std::string_view> keys(own_keys.begin(), own_keys.end());
    keys.emplace_back("define");
    const auto settings = settings_keys();
    keys.insert(keys.end(), settings.begin(), settings.end());
    return keys;
}

/// "block_reduce" of "ns::block_reduce<256>"; the text itself if it is no such name.
std::string kernel_identifier(std::string_view kernel) {
    kernel = kernel.substr(0, kernel.find_first_of("<("));
    if (const std::size_t colon = kernel.rfind(':'); colon != std::string_view::npos) {
        kernel.remove_prefix(colon + 1);
    }
    while (kernel.ends_with(' ')) kernel.remove_suffix(1);
    return std::string(kernel);
}

class SourceReader {
  public:
    SourceReader(const YamlNode& entry, const SourceText& text, Problems& problems)
        : text_(text), fields_(entry, "a source entry", keys(), problems), problems_(problems) {
        read_.entry.at = entry.at;
    }

    ReadSource read() {
        if (const YamlNode* node = fields_.require("source", problems_)) file(*node);
        if (const YamlNode* node = fields_.require("kernel", problems_)) {
            read_.kernel.kernel = words(*node, "kernel", "the name of a kernel", longest_kernel);
        }
        names();
        if (const YamlNode* node = fields_.require("launch", problems_)) launch(*node);
        if (const YamlNode* node = fields_.require("arguments", problems_)) arguments(*node);
        if (const YamlNode* node = fields_.find("check")) check(*node);
        compile_options();
        if (const YamlNode* node = fields_.find("tags")) {
            read_.entry.tags = read_tags(*node, problems_);
        }
        read_.entry.settings = read_settings(fields_, problems_);
        if (const YamlNode* node = fields_.find("overrides")) {
            read_.entry.overrides = read_overrides(*node, problems_);
        }
        read_.matrix = fields_.find("matrix");
        if (read_.matrix != nullptr) {
            read_.workload.params = parameters_of(
                *read_.matrix,
                [](const YamlNode& key, bool rule) {
                    return rule && (key.text == "variant" || key.text == "cache");
                },
                problems_);
        }
        check_parameters();
        return std::move(read_);
    }

  private:
    static std::span<const std::string_view> keys() {
        static const std::vector<std::string_view> all = source_keys();
        return all;
    }

    void file(const YamlNode& node) {
        const auto text = read_text(node, "source", "a file", model::longest_word, problems_);
        if (!text) return;
        if (text->find('\0') != std::string::npos ||
            model::kind_of_source(*text) == model::SourceKind::unknown) {
            problems_.add(node.at, fmt::format("{} is no source; expected a file that ends with "
                                               ".cu, .ptx, .cubin or .fatbin",
                                               in_quotes(*text)));
            return;
        }
        read_.kernel.file = *text;
    }

    /// Text that may have {param}.
    std::string words(const YamlNode& node, std::string_view what, std::string_view expected,
                      std::size_t longest) {
        const auto text = read_text(node, what, expected, longest, problems_);
        if (!text) return {};
        if (model::printable(*text, longest) != *text) {
            problems_.add(node.at, fmt::format("a control character in {}; expected {}",
                                               in_quotes(what), expected));
            return {};
        }
        note_words(*text, node.at);
        return *text;
    }

    void note_words(const std::string& text, Position at) {
        model::with_parameters(text, [&](const std::string& name) {
            used_.emplace_back(name, at);
            return std::string();
        });
    }

    void names() {
        const std::string stem = std::filesystem::path(read_.kernel.file).stem().string();
        if (const YamlNode* node = fields_.find("name")) {
            read_.workload.name = read_slug(*node, "name", problems_).value_or("");
        } else if (is_slug(stem)) {
            read_.workload.name = stem;
        } else if (!read_.kernel.file.empty()) {
            problems_.add(fields_.find("source")->at,
                          fmt::format("{} cannot name a workload; expected 'name', of [a-z0-9_-]",
                                      in_quotes(stem)));
        }
        model::VariantInfo& variant = read_.workload.variants.emplace_back();
        const std::string identifier = kernel_identifier(read_.kernel.kernel);
        if (const YamlNode* node = fields_.find("variant")) {
            variant.name = read_slug(*node, "variant", problems_).value_or("");
        } else if (model::is_identifier(identifier)) {
            variant.name = identifier;
        } else if (!read_.kernel.kernel.empty()) {
            problems_.add(fields_.find("kernel")->at,
                          fmt::format("{} cannot name a variant; expected 'variant', of [a-z0-9_-]",
                                      in_quotes(read_.kernel.kernel)));
        }
        variant.target = model::Target::cuda;
        variant.submission = model::Submission::async;
    }

    static bool is_slug(std::string_view text) {
        return !text.empty() && text.size() <= 64 &&
               std::all_of(text.begin(), text.end(), [](char c) {
                   return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_' || c == '-';
               });
    }

    // --- launch and arguments

    std::optional<IntegerExpression> expression(const YamlNode& node, std::string_view what) {
        if (node.kind != YamlNode::Kind::scalar) {
            add_wrong_type(node, what, "an integer, or text such as \"(n + 255) / 256\"",
                           problems_);
            return std::nullopt;
        }
        auto parsed = IntegerExpression::parse(text_.place(node), problems_);
        if (parsed) {
            for (const auto& name : parsed->names()) {
                used_.emplace_back(name.name, name.at);
                integers_.emplace_back(name.name, name.at);
            }
        }
        return parsed;
    }

    std::vector<IntegerExpression> sizes(const YamlNode& node, std::string_view what) {
        std::vector<IntegerExpression> sizes;
        std::vector<const YamlNode*> items{&node};
        if (node.kind == YamlNode::Kind::list) {
            items = read_list(node, what, "up to three sizes: x, y, z", problems_);
        }
        if (items.size() > 3) {
            problems_.add(node.at, fmt::format("{} sizes in {}; expected up to three: x, y, z",
                                               items.size(), in_quotes(what)));
            return sizes;
        }
        for (const YamlNode* item : items) {
            if (auto parsed = expression(*item, what)) sizes.push_back(std::move(*parsed));
        }
        return sizes;
    }

    void launch(const YamlNode& node) {
        const Fields fields(node, "'launch'", launch_keys, problems_);
        if (const YamlNode* grid = fields.require("grid", problems_)) {
            read_.grid = sizes(*grid, "grid");
        }
        if (const YamlNode* block = fields.require("block", problems_)) {
            read_.block = sizes(*block, "block");
        }
        if (const YamlNode* shared = fields.find("shared")) {
            read_.shared = expression(*shared, "shared");
        }
    }

    void arguments(const YamlNode& node) {
        if (node.kind == YamlNode::Kind::list && node.items.empty()) return;  // a kernel without
        const auto items = read_list(node, "arguments", "arguments of the kernel", problems_);
        if (items.size() > most_arguments) {
            problems_.add(node.at, fmt::format("{} arguments; expected at most {}", items.size(),
                                               most_arguments));
            return;
        }
        for (const YamlNode* item : items) argument(*item);
    }

    void argument(const YamlNode& node) {
        const std::size_t before = problems_.count();
        const Fields fields(node, "an argument", argument_keys, problems_);
        if (problems_.count() != before) return;
        std::vector<std::string_view> kinds;
        for (const std::string_view key : argument_keys) {
            if (key != "size" && key != "fill" && fields.find(key) != nullptr) kinds.push_back(key);
        }
        if (kinds.size() != 1) {
            problems_.add(node.at, fmt::format("an argument with {} of its keys; expected one of "
                                               "in, out, inout, i32, i64, u32, u64, f32, f64",
                                               kinds.empty() ? "none" : "several"));
            return;
        }
        SourceArgument& argument = read_.kernel.arguments.emplace_back();
        ReadSource::Argument& read = read_.arguments.emplace_back();
        read.at = node.at;
        const YamlNode& value = *fields.find(kinds.front());
        const auto role = std::find_if(
            roles.begin(), roles.end(), [&](Role each) { return to_text(each) == kinds.front(); });
        if (role != roles.end()) {
            argument.role = *role;
            buffer(value, fields, argument, read);
        } else {
            argument.role = Role::value;
            argument.type = *std::find_if(
                value_types.begin(), value_types.end(),
                [&](ElementType type) { return to_text(type) == kinds.front(); });
            for (const std::string_view key : {"size", "fill"}) {
                if (const YamlNode* found = fields.find(key)) {
                    problems_.add(found->at, fmt::format("'{}' of a value; expected it of a buffer",
                                                         key));
                }
            }
            passed_value(value, argument, read);
        }
    }

    void buffer(const YamlNode& type, const Fields& fields, SourceArgument& argument,
                ReadSource::Argument& read) {
        std::vector<std::string> names;
        for (const ElementType each : buffer_types) names.emplace_back(to_text(each));
        const std::string_view what = to_text(argument.role);
        if (const auto choice = read_choice(type, what, names, problems_)) {
            argument.type = buffer_types[*choice];
        }
        if (const YamlNode* size = fields.require("size", problems_)) {
            read.size = expression(*size, "size");
        }
        if (const YamlNode* node = fields.find("fill")) fill(*node, argument);
    }

    void fill(const YamlNode& node, SourceArgument& argument) {
        if (argument.role == Role::out) {
            problems_.add(node.at,
                          "'fill' of an 'out', which only the kernel writes; expected 'inout'");
            return;
        }
        const std::optional<std::string> text = text_of(node);
        if (text && *text == "uniform") return;
        if (text && *text == "iota") {
            argument.fill = Fill::iota;
            return;
        }
        argument.fill = Fill::constant;
        if (text && *text == "zero") return;
        if (!constant(node, argument)) {
            add_wrong_type(node, "fill",
                           fmt::format("uniform, zero, iota or a number that {} holds",
                                       to_text(argument.type)),
                           problems_);
        }
    }

    /// A number of the argument's type; false: it is none.
    static bool constant(const YamlNode& node, SourceArgument& argument) {
        if (is_integer(argument.type)) {
            const std::optional<std::int64_t> value = integer_of(node);
            if (!value || !holds(argument.type, *value)) return false;
            argument.integer = *value;
            return true;
        }
        const std::optional<double> value = number_of(node);
        if (!value || !std::isfinite(*value)) return false;
        argument.real = *value;
        return true;
    }

    static bool holds(ElementType type, std::int64_t value) {
        const bool with_sign = to_text(type).front() == 'i';
        const auto bits = 8 * bytes_of(type);
        if (!with_sign && value < 0) return false;
        if (bits == 64) return true;
        const std::int64_t limit = std::int64_t{1} << (with_sign ? bits - 1 : bits);
        return value < limit && value >= (with_sign ? -limit : 0);
    }

    void passed_value(const YamlNode& node, SourceArgument& argument, ReadSource::Argument& read) {
        const std::string_view type = to_text(argument.type);
        if (!is_integer(argument.type)) {
            if (constant(node, argument)) return;
            const std::optional<std::string> text = text_of(node);
            if (text && model::is_identifier(*text)) {
                read.real_parameter = *text;
                used_.emplace_back(*text, node.at);
                return;
            }
        }
        read.value = expression(node, type);
    }

    // --- check and compiling

    void check(const YamlNode& node) {
        if (text_of(node) == "none") return;
        const Fields fields(node, "'check'", check_keys, problems_);
        const YamlNode* against = fields.require("against", problems_);
        SourceCheck& check = read_.kernel.check;
        if (against == nullptr) return;
        const std::string what =
            words(*against, "against", "a kernel, a .npy file or none", model::longest_word);
        const auto tolerance = [&](std::string_view key, double usual) {
            const YamlNode* found = fields.find(key);
            if (found == nullptr) return usual;
            const std::optional<double> value = number_of(*found);
            const double most = key == "rtol" ? 0.5 : std::numeric_limits<double>::max();
            if (value && *value >= 0 && *value <= most) return *value;
            add_wrong_type(*found, key, key == "rtol" ? "a number from 0 to 0.5" : "a number from 0",
                           problems_);
            return usual;
        };
        check.rtol = tolerance("rtol", 1e-5);
        check.atol = tolerance("atol", 0);
        if (what.empty() || what == "none") return;
        check.against = what;
        check.kind = what.ends_with(".npy") ? SourceCheck::Kind::file : SourceCheck::Kind::kernel;
        check_outputs(against->at);
    }

    /// Whether the outputs can be compared.
    void check_outputs(Position at) {
        const auto& all = read_.kernel.arguments;
        const auto outputs =
            std::count_if(all.begin(), all.end(), [](const SourceArgument& argument) {
                return argument.role == Role::out || argument.role == Role::inout;
            });
        if (outputs == 0) {
            problems_.add(at, "a check of a kernel without outputs; expected an 'out' or 'inout'");
        }
        if (read_.kernel.check.kind != SourceCheck::Kind::file) return;
        if (outputs > 1) {
            problems_.add(at, fmt::format("a file for {} outputs; expected one 'out' or 'inout', "
                                          "or a kernel to compare with",
                                          outputs));
        }
        const bool random = std::any_of(all.begin(), all.end(), [](const SourceArgument& argument) {
            return (argument.role == Role::in || argument.role == Role::inout) &&
                   argument.fill == Fill::uniform;
        });
        if (random) {
            problems_.add(at,
                          "a file cannot have the result of inputs that every run makes anew; "
                          "expected 'fill: iota', a number, or a kernel to compare with");
        }
    }

    void compile_options() {
        const bool compiled =
            model::kind_of_source(read_.kernel.file) == model::SourceKind::cuda ||
            read_.kernel.file.empty();
        for (const std::string_view key : compile_keys) {
            const YamlNode* found = fields_.find(key);
            if (found == nullptr || compiled) continue;
            problems_.add(found->at, fmt::format("'{}' of a file that is not compiled; expected it "
                                                 "of a .cu",
                                                 key));
        }
        model::CompileOptions& options = read_.kernel.options;
        if (const YamlNode* node = fields_.find("std")) {
            static const std::vector<std::string> standards{"c++14", "c++17", "c++20"};
            if (const auto choice = read_choice(*node, "std", standards, problems_)) {
                options.standard = standards[*choice];
            }
        }
        if (const YamlNode* node = fields_.find("fast_math")) {
            const std::optional<bool> value = boolean_of(*node);
            if (!value) add_wrong_type(*node, "fast_math", "true or false", problems_);
            options.fast_math = value.value_or(false);
        }
        for (const YamlNode* item : list("include", "folders")) {
            const auto folder =
                read_text(*item, "include", "a folder", model::longest_word, problems_);
            if (folder) options.include.push_back(*folder);
        }
        for (const YamlNode* item : list("architectures", "architectures such as 90")) {
            if (item->kind == YamlNode::Kind::scalar && is_architecture(item->text)) {
                read_.kernel.architectures.push_back(item->text);
            } else {
                add_wrong_type(*item, "architectures", "an architecture such as 80 or 90a",
                               problems_);
            }
        }
        if (const YamlNode* node = fields_.find("define")) defines(*node);
    }

    std::vector<const YamlNode*> list(std::string_view key, std::string_view of) {
        const YamlNode* node = fields_.find(key);
        if (node == nullptr) return {};
        auto items = read_list(*node, key, of, problems_);
        if (items.size() <= most_items) return items;
        problems_.add(node->at, fmt::format("{} items in '{}'; expected at most {}", items.size(),
                                            key, most_items));
        return {};
    }

    void defines(const YamlNode& node) {
        if (node.kind != YamlNode::Kind::map || node.entries.size() > most_items) {
            add_wrong_type(node, "define",
                           fmt::format("a map from macro to value, at most {}", most_items),
                           problems_);
            return;
        }
        for (const YamlNode::Entry& entry : node.entries) {
            const std::string& name = entry.key->text;
            if (!model::is_identifier(name)) {
                problems_.add(entry.key->at,
                              fmt::format("{} is not the name of a macro; expected letters, digits "
                                          "and '_'",
                                          in_quotes(name)));
                continue;
            }
            const YamlNode& value = *entry.value;
            const bool fits = value.kind == YamlNode::Kind::scalar &&
                              model::printable(value.text, model::longest_word) == value.text;
            if (!fits) {
                add_wrong_type(value, name, "text or a number", problems_);
                continue;
            }
            note_words(value.text, value.at);
            read_.kernel.options.defines.emplace_back(name, value.text);
        }
    }

    // --- parameters

    void check_parameters() {
        std::vector<std::string> names = names_of(read_.workload.params);
        for (const auto& [name, at] : used_) {
            if (std::find(names.begin(), names.end(), name) != names.end()) continue;
            problems_.add(at, fmt::format("{} is not a parameter of 'matrix'; expected one{}",
                                          in_quotes(name), model::did_you_mean(name, names)));
        }
        for (const model::ParamInfo& info : read_.workload.params) {
            const auto is_it = [&](const auto& use) { return use.first == info.name; };
            const auto integer = std::find_if(integers_.begin(), integers_.end(), is_it);
            if (integer != integers_.end() && info.type != model::ParamType::integer) {
                problems_.add(integer->second,
                              fmt::format("parameter {} is of type {}; expected an integer in "
                                          "expressions",
                                          in_quotes(info.name), model::to_text(info.type)));
            }
            if (std::any_of(used_.begin(), used_.end(), is_it)) continue;
            problems_.add(read_.matrix->at,
                          fmt::format("parameter {} of 'matrix' is used nowhere; expected it in "
                                      "'launch' or 'arguments', or as '{{{}}}' in 'kernel', "
                                      "'define' or 'against'",
                                      in_quotes(info.name), model::printable(info.name, 80)));
        }
    }

    static constexpr std::array roles{Role::in, Role::out, Role::inout};

    const SourceText& text_;
    Fields fields_;
    Problems& problems_;
    ReadSource read_;
    std::vector<std::pair<std::string, Position>> used_;      ///< parameters, anywhere
    std::vector<std::pair<std::string, Position>> integers_;  ///< in expressions
};

/// Puts the numbers of one case in place.
class SourceFiller {
  public:
    SourceFiller(const ReadSource& read, const model::Params& params, Problems& problems)
        : read_(read), params_(params), problems_(problems), filled_(read.kernel) {}

    model::SourceKernel fill() {
        const auto words = [&](std::string& text) {
            text = model::with_parameters(text, [&](const std::string& name) {
                const auto found = params_.find(name);
                if (found == params_.end()) return "{" + name + "}";
                const auto* own = std::get_if<std::string>(&found->second);
                return own != nullptr ? *own : model::to_text(found->second);
            });
        };
        words(filled_.kernel);
        words(filled_.check.against);
        for (auto& [name, value] : filled_.options.defines) words(value);
        sizes(read_.grid, most_blocks, "blocks", filled_.grid);
        sizes(read_.block, most_threads, "threads", filled_.block);
        const std::int64_t threads = filled_.block[0] * filled_.block[1] * filled_.block[2];
        if (threads > most_threads[0]) {
            problems_.add(read_.block.front().at(),
                          fmt::format("{} threads in a block{}; expected at most {}", threads,
                                      of_case(), most_threads[0]));
        }
        if (read_.shared) {
            filled_.shared_bytes = value(*read_.shared, 0, most_shared_bytes, "bytes").value_or(0);
        }
        for (std::size_t i = 0; i < read_.arguments.size(); ++i) {
            argument(read_.arguments[i], filled_.arguments[i]);
        }
        return std::move(filled_);
    }

  private:
    using Limits = std::array<std::int64_t, 3>;
    static constexpr Limits most_blocks{2147483647, 65535, 65535};
    static constexpr Limits most_threads{1024, 1024, 64};
    static constexpr std::int64_t most_shared_bytes = std::int64_t{1} << 20;
    static constexpr std::int64_t most_elements = std::int64_t{1} << 40;

    /// " for n=16", which distinguishes the cases of an expression.
    std::string of_case() const {
        std::string text;
        for (const auto& [name, value] : params_) {
            text += fmt::format("{}{}={}", text.empty() ? " for " : ",", name,
                                model::to_text(value));
        }
        return model::printable(text, 120);
    }

    std::optional<std::int64_t> value(const IntegerExpression& expression, std::int64_t least,
                                      std::int64_t most, std::string_view unit) {
        const IntegerExpression::Value value = expression.evaluate(params_);
        if (!value.problem.empty()) {
            problems_.add(expression.at(), fmt::format("{}{}; expected an integer", value.problem,
                                                       of_case()));
            return std::nullopt;
        }
        if (value.value < least || value.value > most) {
            problems_.add(expression.at(),
                          fmt::format("{} is {}{}; expected {} to {} {}",
                                      in_quotes(expression.text()), value.value, of_case(), least,
                                      most, unit));
            return std::nullopt;
        }
        return value.value;
    }

    void sizes(const std::vector<IntegerExpression>& expressions, const Limits& most,
               std::string_view unit, std::array<std::int64_t, 3>& sizes) {
        for (std::size_t i = 0; i < expressions.size(); ++i) {
            sizes[i] = value(expressions[i], 1, most[i], unit).value_or(1);
        }
    }

    void argument(const ReadSource::Argument& read, SourceArgument& argument) {
        if (read.size) {
            argument.elements = value(*read.size, 1, most_elements, "elements").value_or(1);
        }
        if (read.value && is_integer(argument.type)) {
            const bool with_sign = to_text(argument.type).front() == 'i';
            const bool wide = bytes_of(argument.type) == 8;
            const std::int64_t most = wide        ? std::numeric_limits<std::int64_t>::max()
                                      : with_sign ? std::numeric_limits<std::int32_t>::max()
                                                  : std::numeric_limits<std::uint32_t>::max();
            const std::int64_t least = with_sign ? -most - 1 : 0;
            argument.integer =
                value(*read.value, least, most, fmt::format("in {}", to_text(argument.type)))
                    .value_or(0);
        } else if (read.value) {
            const IntegerExpression::Value found = read.value->evaluate(params_);
            if (!found.problem.empty()) {
                problems_.add(read.value->at(), found.problem + of_case() + "; expected a number");
            }
            argument.real = static_cast<double>(found.value);
        } else if (!read.real_parameter.empty()) {
            real_parameter(read, argument);
        }
    }

    void real_parameter(const ReadSource::Argument& read, SourceArgument& argument) {
        const auto found = params_.find(read.real_parameter);
        if (found == params_.end()) return;  // a problem of its own
        if (const auto* real = std::get_if<double>(&found->second)) {
            argument.real = *real;
        } else if (const auto* integer = std::get_if<std::int64_t>(&found->second)) {
            argument.real = static_cast<double>(*integer);
        } else {
            problems_.add(read.at, fmt::format("parameter {} is no number; expected one",
                                               in_quotes(read.real_parameter)));
        }
    }

    const ReadSource& read_;
    const model::Params& params_;
    Problems& problems_;
    model::SourceKernel filled_;
};

}  // namespace

bool is_architecture(std::string_view text) {
    if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
    return (text.size() == 2 || text.size() == 3) &&
           std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c); });
}

ReadSource read_source(const YamlNode& entry, const SourceText& text, Problems& problems) {
    return SourceReader(entry, text, problems).read();
}

model::SourceKernel filled_in(const ReadSource& read, const model::Params& params,
                              Problems& problems) {
    return SourceFiller(read, params, problems).fill();
}

}  // namespace perfgate::suite
