// SPDX-License-Identifier: Apache-2.0
#include "suite/source_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <utility>

#include "model/command_words.hpp"
#include "suite/entry_reader.hpp"
#include "suite/fields.hpp"
#include "suite/matrix.hpp"
#include "suite/settings.hpp"
#include "util/text.hpp"

namespace perfgate::suite {

namespace {

using model::SourceArgument;
using model::SourceCheck;
using Role = SourceArgument::Role;
using Fill = SourceArgument::Fill;

constexpr std::size_t most_items = 100;  ///< of `include`, `define` and `architectures`
constexpr std::size_t longest_kernel = 256;

constexpr std::array<std::string_view, 15> own_keys{
    "source", "kernel", "name",      "variant",       "launch", "arguments", "check",  "work",
    "matrix", "std",    "fast_math", "architectures", "tags",   "overrides", "include"};
constexpr std::array<std::string_view, 3> check_keys{"against", "rtol", "atol"};
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
        if (const YamlNode* node = fields_.require("launch", problems_)) {
            read_launch(*node, text_, read_, uses_, problems_);
        }
        if (const YamlNode* node = fields_.require("arguments", problems_)) {
            read_arguments(*node, text_, read_, uses_, problems_);
        }
        if (const YamlNode* node = fields_.find("check")) check(*node);
        if (const YamlNode* node = fields_.find("work")) {
            read_work(*node, text_, read_, uses_, problems_);
        }
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
            problems_.add(node.at, fmt::format("{} is not a source; expected a file that ends with "
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
        if (util::printable(*text, longest) != *text) {
            problems_.add(node.at, fmt::format("a control character in {}; expected {}",
                                               in_quotes(what), expected));
            return {};
        }
        note_words(*text, node.at);
        return *text;
    }

    void note_words(const std::string& text, Position at) {
        model::with_parameters(text, [&](const std::string& name) {
            uses_.anywhere.emplace_back(name, at);
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
            add_wrong_type(*found, key,
                           key == "rtol" ? "a number from 0 to 0.5" : "a number from 0", problems_);
            return usual;
        };
        check.rtol = tolerance("rtol", 1e-5);
        check.atol = tolerance("atol", 0);
        if (what.empty() || what == "none") return;
        check.against = what;
        read_.check_at = against->at;
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
            problems_.add(
                at,
                "a file cannot have the result of random inputs, which differ in every run; "
                "expected 'fill' zero, iota or a number, or a kernel to compare with");
        }
    }

    void compile_options() {
        const bool compiled = model::kind_of_source(read_.kernel.file) == model::SourceKind::cuda ||
                              read_.kernel.file.empty();
        for (const std::string_view key : compile_keys) {
            const YamlNode* found = fields_.find(key);
            if (found == nullptr || compiled) continue;
            problems_.add(found->at, fmt::format("'{}' for a file that is not compiled; expected "
                                                 "only with a .cu",
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
                              util::printable(value.text, model::longest_word) == value.text;
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
        for (const auto& [name, at] : uses_.anywhere) {
            if (std::find(names.begin(), names.end(), name) != names.end()) continue;
            problems_.add(at, fmt::format("{} is not a parameter of 'matrix'; expected one{}",
                                          in_quotes(name), util::did_you_mean(name, names)));
        }
        for (const model::ParamInfo& info : read_.workload.params) {
            const auto is_it = [&](const auto& use) { return use.first == info.name; };
            const auto integer =
                std::find_if(uses_.as_integers.begin(), uses_.as_integers.end(), is_it);
            if (integer != uses_.as_integers.end() && info.type != model::ParamType::integer) {
                problems_.add(integer->second,
                              fmt::format("parameter {} is of type {}; expected an integer in "
                                          "expressions",
                                          in_quotes(info.name), model::to_text(info.type)));
            }
            if (std::any_of(uses_.anywhere.begin(), uses_.anywhere.end(), is_it)) continue;
            problems_.add(
                read_.matrix->at,
                fmt::format("parameter {} of 'matrix' is used nowhere; expected it in "
                            "'launch', 'arguments' or 'work', or as '{{{}}}' in 'kernel', "
                            "'define' or 'against'",
                            in_quotes(info.name), util::printable(info.name, 80)));
        }
    }

    const SourceText& text_;
    Fields fields_;
    Problems& problems_;
    ReadSource read_;
    ParameterUses uses_;
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

}  // namespace perfgate::suite
