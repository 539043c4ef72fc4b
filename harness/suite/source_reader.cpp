// SPDX-License-Identifier: Apache-2.0
#include "suite/source_entry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <utility>

#include "model/command_words.hpp"
#include "suite/entry_reader.hpp"
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

/// Keys for files that are compiled; other files are machine code already, or nearly.
constexpr std::array<std::string_view, 5> compile_keys{"include", "define", "std", "fast_math",
                                                       "architectures"};

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

std::string arguments_text(const model::SourceKernel& kernel) {
    std::vector<std::string> all;
    all.reserve(kernel.arguments.size());
    for (const SourceArgument& argument : kernel.arguments) all.push_back(text_of(argument));
    return all.empty() ? "none" : fmt::format("{}", fmt::join(all, ", "));
}

std::string work_text(const model::SourceKernel& kernel) {
    const model::Work& work = kernel.work;
    if (work == model::Work{}) return {};
    return fmt::format("flops {} {}, bytes {}", util::number_text(work.flops),
                       work.arithmetic.empty() ? "of no type" : work.arithmetic,
                       util::number_text(work.bytes));
}

std::string launch_text(const model::SourceKernel& kernel) {
    return fmt::format("grid {}, block {}, shared {}", fmt::join(kernel.grid, "x"),
                       fmt::join(kernel.block, "x"), kernel.shared_bytes);
}

std::string check_words(const model::SourceKernel& kernel) {
    if (kernel.check.kind == SourceCheck::Kind::none) return "none";
    return fmt::format("{}, rtol {}, atol {}", kernel.check.against,
                       util::number_text(kernel.check.rtol), util::number_text(kernel.check.atol));
}

std::string include_text(const model::SourceKernel& kernel) {
    return fmt::format("{}", fmt::join(kernel.options.include, " "));
}

void add_defines(const model::SourceKernel& kernel, model::MeasuredAs& to) {
    for (const auto& [name, value] : kernel.options.defines) to["define." + name] = value;
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
    using Row = Key<SourceReader, model::SourceKernel>;

    SourceReader(const YamlNode& entry, const SourceText& text, Problems& problems)
        : text_(text),
          fields_(entry, "a source entry", names_of_keys(), problems),
          problems_(problems) {
        read_.entry.at = entry.at;
    }

    ReadSource read() {
        read_keys(fields_, keys(), *this, problems_);
        names();
        refuse_compiling();
        read_keys(fields_, entry_keys(), read_.entry, problems_);
        read_.entry.settings = read_settings(fields_, problems_);
        check_parameters();
        return std::move(read_);
    }

    static const std::vector<Row>& keys() {
        static const std::vector<Row> keys{
            Row("source",
                "The file, relative to the suite's folder. A `.cu` is compiled by NVRTC, a `.ptx` "
                "by the driver; `.cubin` and `.fatbin` are loaded as they are.",
                fmt::format(R"("type": "string", "maxLength": {},
                    "pattern": "\\.(cu|ptx|cubin|fatbin)$")",
                            model::longest_word),
                &SourceReader::file)
                .needed()
                .shows([](const model::SourceKernel& of) { return of.file; }),
            Row("kernel",
                "Its name in C++, with namespaces and template arguments; its symbol if the file "
                "is not a `.cu`. `{param}` is a parameter of `matrix`.",
                text({}, longest_kernel).schema,
                [](const KeyValue& value, SourceReader& to) {
                    to.read_.kernel.kernel =
                        to.words(value.node, value.key, "the name of a kernel", longest_kernel);
                })
                .needed()
                .shows([](const model::SourceKernel& of) { return of.kernel; }),
            Row("launch",
                "`grid` and `block`: a size, or a list of up to three. `shared`: bytes of dynamic "
                "shared memory.",
                defined("launch"),
                [](const KeyValue& value, SourceReader& to) {
                    read_launch(value.node, to.text_, to.read_, to.uses_, value.problems);
                })
                .needed()
                .shows(launch_text),
            Row("arguments", "What the kernel takes, in order; see [below](#arguments).",
                R"("type": "array", "maxItems": 64, "items": {"$ref": "#/definitions/argument"})",
                [](const KeyValue& value, SourceReader& to) {
                    read_arguments(value.node, to.text_, to.read_, to.uses_, value.problems);
                })
                .needed()
                .measured_as(arguments_text),
            {"name", "The workload's name. Default: the file's.", slug(),
             in(&SourceReader::read_, &ReadSource::workload, &model::WorkloadInfo::name)},
            {"variant", "Of the variant. Without it, the kernel's.", slug(),
             &SourceReader::variant_},
            Row("check",
                "What the outputs are compared with; see [below](#check). Without it the case is "
                "not verified.",
                R"("anyOf": [{"const": "none"}, {"$ref": "#/definitions/check"}])",
                &SourceReader::check)
                .shows(check_words),
            Row("work", "What the result needs at least; see [below](#work).", defined("work"),
                [](const KeyValue& value, SourceReader& to) {
                    read_work(value.node, to.text_, to.read_, to.uses_, value.problems);
                })
                .measured_as(work_text),
            Row("include",
                "Header folders, relative to the suite's; the source's and the toolkit's are "
                "always searched.",
                list_of(text({}, model::longest_word).schema),
                [](const KeyValue& value, SourceReader& to) {
                    const auto folder = text("a folder", model::longest_word);
                    for (const YamlNode* item : to.items(value, "folders")) {
                        const auto found = folder.read({*item, value.key, value.problems});
                        if (found) to.read_.kernel.options.include.push_back(*found);
                    }
                })
                .shows(include_text),
            Row("define", "A map of macros; `{param}` in a value is a parameter of `matrix`.",
                fmt::format(R"("type": "object", "maxProperties": {},
                    "propertyNames": {{"$ref": "#/definitions/identifier"}},
                    "additionalProperties": {{"$ref": "#/definitions/word"}})",
                            most_items),
                &SourceReader::defines)
                .shows(add_defines),
            option<&model::CompileOptions::standard>("std", "The language.",
                                                     word({"c++14", "c++17", "c++20"})),
            option<&model::CompileOptions::fast_math>("fast_math", "As `--use_fast_math`.",
                                                      boolean()),
            {"architectures",
             "What `validate` compiles for without `--architecture`, and without a GPU: `[80, "
             "90a]`. A run compiles for its device.",
             list_of(R"("anyOf": [{"type": "integer", "minimum": 10, "maximum": 999},
                        {"type": "string", "pattern": "^[0-9]{2,3}[af]?$"}])"),
             [](const KeyValue& value, SourceReader& to) {
                 for (const YamlNode* item : to.items(value, "architectures such as 90")) {
                     if (item->kind == YamlNode::Kind::scalar && is_architecture(item->text)) {
                         to.read_.kernel.architectures.push_back(item->text);
                     } else {
                         add_wrong_type(*item, value.key, "an architecture such as 80 or 90a",
                                        value.problems);
                     }
                 }
             }},
            {"matrix", "As for [workloads](../suites/README.md#matrix).", defined("matrix"),
             [](const KeyValue& value, SourceReader& to) {
                 to.read_.matrix = &value.node;
                 to.read_.workload.params = parameters_of(
                     value.node,
                     [](const YamlNode& key, bool rule) {
                         return rule && (key.text == "variant" || key.text == "cache");
                     },
                     value.problems);
             }},
        };
        return keys;
    }

    struct CheckText {
        SourceReader& reader;
        SourceCheck check;
        std::string against = {};
    };

    static const std::vector<Key<CheckText>>& check_keys() {
        using Line = Key<CheckText>;
        static const std::vector<Line> keys{
            Line("against",
                 "Another kernel of the file with the same arguments, a `.npy` file, or `none`.",
                 text({}, model::longest_word).schema,
                 [](const KeyValue& value, CheckText& to) {
                     to.against =
                         to.reader.words(value.node, value.key, "a kernel, a .npy file or none",
                                         model::longest_word);
                 })
                .needed(),
            Line("rtol",
                 "Tolerance, a share of the expected value; of floating-point outputs only.",
                 number(R"("minimum": 0, "maximum": 0.5)",
                        [](double value) { return value >= 0 && value <= 0.5; },
                        "a number from 0 to 0.5"),
                 in(&CheckText::check, &SourceCheck::rtol))
                .usually("1e-5"),
            Line("atol", "Tolerance in addition.",
                 number(R"("minimum": 0)",
                        [](double value) { return value >= 0 && std::isfinite(value); },
                        "a number from 0"),
                 in(&CheckText::check, &SourceCheck::atol))
                .usually("0"),
        };
        return keys;
    }

  private:
    static const std::vector<std::string>& names_of_keys() {
        static const std::vector<std::string> names =
            key_names(joined({tables::source(), tables::settings()}));
        return names;
    }

    static std::string list_of(const std::string& item) {
        return fmt::format(R"("type": "array", "minItems": 1, "maxItems": {}, "items": {{{}}})",
                           most_items, item);
    }

    template <auto member, typename T>
    static Row option(std::string_view name, std::string_view help, const Sort<T>& sort) {
        return Row(name, help, sort,
                   in(&SourceReader::read_, &ReadSource::kernel, &model::SourceKernel::options,
                      member))
            .shows([sort](const model::SourceKernel& of) { return sort.text(of.options.*member); })
            .usually(sort.text(model::CompileOptions{}.*member));
    }

    void file(const YamlNode& node) {
        const auto text = read_text(node, "source", "a file", model::longest_word, problems_);
        if (!text) return;
        if (text->find('\0') != std::string::npos ||
            model::kind_of_source(*text) == model::SourceKind::unknown) {
            problems_.add(
                node.at,
                "{} is not a source; expected a file that ends with .cu, .ptx, .cubin or .fatbin",
                in_quotes(*text));
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
            problems_.add(node.at, "a control character in {}; expected {}", in_quotes(what),
                          expected);
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
        if (fields_.find("name") != nullptr) {
            // Its problems are reported.
        } else if (is_slug(stem)) {
            read_.workload.name = stem;
        } else if (!read_.kernel.file.empty()) {
            problems_.add(fields_.find("source")->at,
                          "{} cannot name a workload; expected 'name', of [a-z0-9_-]",
                          in_quotes(stem));
        }
        model::VariantInfo& variant = read_.workload.variants.emplace_back();
        const std::string identifier = kernel_identifier(read_.kernel.kernel);
        if (fields_.find("variant") != nullptr) {
            variant.name = variant_;
        } else if (model::is_identifier(identifier)) {
            variant.name = identifier;
        } else if (!read_.kernel.kernel.empty()) {
            problems_.add(fields_.find("kernel")->at,
                          "{} cannot name a variant; expected 'variant', of [a-z0-9_-]",
                          in_quotes(read_.kernel.kernel));
        }
        variant.target = model::Target::cuda;
        variant.submission = model::Submission::async;
    }

    static bool is_slug(std::string_view text) {
        return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
            return (c >= 'a' && c <= 'z') || is_digit(c) || c == '_' || c == '-';
        });
    }

    // --- check and compiling

    void check(const YamlNode& node) {
        if (text_of(node) == "none") return;
        const Fields fields(node, "'check'", key_names(check_keys()), problems_);
        CheckText read{*this, read_.kernel.check};
        read.check.rtol = 1e-5;
        read_keys(fields, check_keys(), read, problems_);
        const YamlNode* against = fields.find("against");
        if (against == nullptr) return;
        SourceCheck& check = read_.kernel.check;
        check = read.check;
        if (read.against.empty() || read.against == "none") return;
        check.against = read.against;
        read_.check_at = against->at;
        check.kind =
            read.against.ends_with(".npy") ? SourceCheck::Kind::file : SourceCheck::Kind::kernel;
        check_outputs(against->at);
    }

    /// Whether the outputs can be compared.
    void check_outputs(Position at) {
        const auto& all = read_.kernel.arguments;
        const auto outputs = std::ranges::count_if(all, [](const SourceArgument& argument) {
            return argument.role == Role::out || argument.role == Role::inout;
        });
        if (outputs == 0) {
            problems_.add(at, "a check of a kernel without outputs; expected an 'out' or 'inout'");
        }
        if (read_.kernel.check.kind != SourceCheck::Kind::file) return;
        if (outputs > 1) {
            problems_.add(
                at,
                "a file for {} outputs; expected one 'out' or 'inout', or a kernel to compare with",
                outputs);
        }
        const bool random = std::ranges::any_of(all, [](const SourceArgument& argument) {
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

    void refuse_compiling() {
        const bool compiled = model::kind_of_source(read_.kernel.file) == model::SourceKind::cuda ||
                              read_.kernel.file.empty();
        for (const std::string_view key : compile_keys) {
            const YamlNode* found = fields_.find(key);
            if (found == nullptr || compiled) continue;
            problems_.add(found->at,
                          "'{}' for a file that is not compiled; expected only with a .cu", key);
        }
    }

    static std::vector<const YamlNode*> items(const KeyValue& value, std::string_view of) {
        auto items = read_list(value.node, value.key, of, value.problems);
        if (items.size() <= most_items) return items;
        value.problems.add(value.node.at, "{} items in '{}'; expected at most {}", items.size(),
                           value.key, most_items);
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
                              "{} is not the name of a macro; expected letters, digits and '_'",
                              in_quotes(name));
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
            if (std::ranges::find(names, name) != names.end()) continue;
            problems_.add(at, "{} is not a parameter of 'matrix'; expected one{}", in_quotes(name),
                          util::did_you_mean(name, names));
        }
        for (const model::ParamInfo& info : read_.workload.params) {
            const auto is_it = [&](const auto& use) { return use.first == info.name; };
            const auto integer = std::ranges::find_if(uses_.as_integers, is_it);
            if (integer != uses_.as_integers.end() && info.type != model::ParamType::integer) {
                problems_.add(integer->second,
                              "parameter {} is of type {}; expected an integer in expressions",
                              in_quotes(info.name), model::to_text(info.type));
            }
            if (std::ranges::any_of(uses_.anywhere, is_it)) continue;
            problems_.add(
                read_.matrix->at,
                "parameter {} of 'matrix' is used nowhere; expected it in 'launch', 'arguments' or "
                "'work', or as '{{{}}}' in 'kernel', 'define' or 'against'",
                in_quotes(info.name), util::printable(info.name, 80));
        }
    }

    const SourceText& text_;
    Fields fields_;
    Problems& problems_;
    ReadSource read_;
    std::string variant_;
    ParameterUses uses_;
};

}  // namespace

std::vector<KeyText> tables::source() {
    return joined({texts_of(SourceReader::keys()), texts_of(entry_keys())});
}

std::vector<KeyText> tables::check() {
    return texts_of(SourceReader::check_keys());
}

model::MeasuredAs measured_as(const model::SourceKernel& kernel) {
    static const std::vector<Compared<model::SourceKernel>> keys(SourceReader::keys().begin(),
                                                                 SourceReader::keys().end());
    return measured_as(keys, kernel);
}

std::vector<WeakerKey> weaker_keys(const model::SourceKernel& before,
                                   const model::SourceKernel& after) {
    return weaker_keys(SourceReader::keys(), before, after);
}

bool is_architecture(std::string_view text) {
    if (text.ends_with('a') || text.ends_with('f')) text.remove_suffix(1);
    return (text.size() == 2 || text.size() == 3) &&
           std::ranges::all_of(text, [](char c) { return is_digit(c); });
}

ReadSource read_source(const YamlNode& entry, const SourceText& text, Problems& problems) {
    return SourceReader(entry, text, problems).read();
}

}  // namespace perfgate::suite
