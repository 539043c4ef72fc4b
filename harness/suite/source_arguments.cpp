// SPDX-License-Identifier: Apache-2.0
#include "suite/source_entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "model/command_words.hpp"
#include "model/roofline.hpp"
#include "suite/keys.hpp"

namespace perfgate::suite {

namespace {

using model::ElementType;
using model::SourceArgument;
using Role = SourceArgument::Role;
using Fill = SourceArgument::Fill;

constexpr std::size_t most_arguments = 64;

const std::vector<std::string> argument_keys{"in",  "out", "inout", "f16",  "bf16", "f32",
                                             "f64", "i8",  "i16",   "i32",  "i64",  "u8",
                                             "u16", "u32", "u64",   "size", "fill"};

constexpr std::array element_types{ElementType::f16, ElementType::bf16, ElementType::f32,
                                   ElementType::f64, ElementType::i8,   ElementType::i16,
                                   ElementType::i32, ElementType::i64,  ElementType::u8,
                                   ElementType::u16, ElementType::u32,  ElementType::u64};
constexpr std::array buffer_roles{Role::in, Role::out, Role::inout};

class ArgumentsReader {
  public:
    ArgumentsReader(const SourceText& text, ReadSource& read, ParameterUses& uses,
                    Problems& problems)
        : text_(text), read_(read), uses_(uses), problems_(problems) {}

    void launch(const YamlNode& node) {
        const Fields fields(node, "'launch'", key_names(launch_keys()), problems_);
        read_keys(fields, launch_keys(), *this, problems_);
    }

    void arguments(const YamlNode& node) {
        if (node.kind == YamlNode::Kind::list && node.items.empty()) return;  // a kernel without
        const auto items = read_list(node, "arguments", "arguments of the kernel", problems_);
        if (items.size() > most_arguments) {
            problems_.add(node.at, "{} arguments; expected at most {}", items.size(),
                          most_arguments);
            return;
        }
        for (const YamlNode* item : items) argument(*item);
    }

    void work(const YamlNode& node) {
        const std::size_t before = problems_.count();
        const Fields fields(node, "'work'", key_names(work_keys()), problems_);
        if (problems_.count() != before) return;
        read_.work_at = node.at;
        read_keys(fields, work_keys(), *this, problems_);
        const YamlNode* type = fields.find("type");
        if (fields.find("flops") == nullptr && fields.find("bytes") == nullptr) {
            problems_.add(node.at, "'work' states nothing; expected 'flops', 'bytes' or both");
        }
        if (type != nullptr && fields.find("flops") == nullptr) {
            problems_.add(type->at, "'type' without 'flops', whose type it is; expected both");
        }
    }

    using Row = Key<ArgumentsReader>;

    static const std::vector<Row>& launch_keys() {
        static const std::vector<Row> keys{
            Row("grid", "Blocks: x, or up to three of x, y, z.", defined("sizes"),
                [](const KeyValue& value, ArgumentsReader& to) {
                    to.read_.grid = to.sizes(value.node, value.key);
                })
                .needed(),
            Row("block", "Threads of a block: x, or up to three of x, y, z.", defined("sizes"),
                [](const KeyValue& value, ArgumentsReader& to) {
                    to.read_.block = to.sizes(value.node, value.key);
                })
                .needed(),
            size_key("shared", "Dynamic shared memory of a block, bytes.", &ReadSource::shared),
        };
        return keys;
    }

    static const std::vector<Row>& work_keys() {
        static const std::vector<Row> keys{
            size_key("flops",
                     "Arithmetic operations that the result needs, a multiply-add counting 2.",
                     &ReadSource::flops),
            size_key(
                "bytes",
                "The least bytes that must move: every input read once, every output written once.",
                &ReadSource::bytes),
            {"type",
             "Type of the operations (on tensor cores, the type of the inputs). Omit it for any "
             "other type.",
             word({model::arithmetic_types.begin(), model::arithmetic_types.end()}),
             [](ArgumentsReader& to) -> std::string& { return to.read_.kernel.work.arithmetic; }},
        };
        return keys;
    }

  private:
    static Row size_key(std::string_view name, std::string_view help,
                        std::optional<IntegerExpression> ReadSource::*place) {
        return {name, help, defined("size"), [place](const KeyValue& value, ArgumentsReader& to) {
                    to.read_.*place = to.expression(value.node, value.key);
                }};
    }

    std::optional<IntegerExpression> expression(const YamlNode& node, std::string_view what) {
        if (node.kind != YamlNode::Kind::scalar) {
            add_wrong_type(node, what, "an integer, or text such as \"(n + 255) / 256\"",
                           problems_);
            return std::nullopt;
        }
        auto parsed = IntegerExpression::parse(text_.place(node), problems_);
        if (parsed) {
            for (const auto& name : parsed->names()) {
                uses_.anywhere.emplace_back(name.name, name.at);
                uses_.as_integers.emplace_back(name.name, name.at);
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
            problems_.add(node.at, "{} sizes in {}; expected up to three: x, y, z", items.size(),
                          in_quotes(what));
            return sizes;
        }
        for (const YamlNode* item : items) {
            if (auto parsed = expression(*item, what)) sizes.push_back(std::move(*parsed));
        }
        return sizes;
    }

    void argument(const YamlNode& node) {
        const std::size_t before = problems_.count();
        const Fields fields(node, "an argument", argument_keys, problems_);
        if (problems_.count() != before) return;
        std::vector<std::string> kinds;
        for (const std::string& key : argument_keys) {
            if (key != "size" && key != "fill" && fields.find(key) != nullptr) kinds.push_back(key);
        }
        if (kinds.size() != 1) {
            problems_.add(node.at,
                          "{} of the keys that say what an argument is; expected one of in, out, "
                          "inout, or for a value its type, such as i32",
                          kinds.empty() ? "none" : "several");
            return;
        }
        SourceArgument& argument = read_.kernel.arguments.emplace_back();
        ReadSource::Argument& read = read_.arguments.emplace_back();
        read.at = node.at;
        const YamlNode& value = *fields.find(kinds.front());
        const auto role = std::ranges::find_if(
            buffer_roles, [&](Role each) { return to_text(each) == kinds.front(); });
        if (role != buffer_roles.end()) {
            argument.role = *role;
            buffer(value, fields, argument, read);
        } else {
            argument.role = Role::value;
            argument.type = *std::ranges::find_if(
                element_types, [&](ElementType type) { return to_text(type) == kinds.front(); });
            for (const std::string_view key : {"size", "fill"}) {
                if (const YamlNode* found = fields.find(key)) {
                    problems_.add(found->at, "'{}' of a value; expected only in a buffer", key);
                }
            }
            passed_value(value, argument, read);
        }
    }

    void buffer(const YamlNode& type, const Fields& fields, SourceArgument& argument,
                ReadSource::Argument& read) {
        const std::string_view what = to_text(argument.role);
        if (const auto choice = read_choice(type, what, element_names(), problems_)) {
            argument.type = element_types[*choice];
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
            const auto [least, most] = integers_of(argument.type);
            if (!value || *value < least || *value > most) return false;
            argument.integer = *value;
            return true;
        }
        const std::optional<double> value = number_of(node);
        if (!value || !(std::fabs(*value) <= model::largest_of(argument.type))) return false;
        argument.real = *value;
        return true;
    }

    void passed_value(const YamlNode& node, SourceArgument& argument, ReadSource::Argument& read) {
        const std::string_view type = to_text(argument.type);
        if (!is_integer(argument.type)) {
            if (constant(node, argument)) return;
            const std::optional<std::string> text = text_of(node);
            if (text && model::is_identifier(*text)) {
                read.real_parameter = *text;
                uses_.anywhere.emplace_back(*text, node.at);
                return;
            }
        }
        read.value = expression(node, type);
    }

    const SourceText& text_;
    ReadSource& read_;
    ParameterUses& uses_;
    Problems& problems_;
};

}  // namespace

std::vector<KeyText> tables::launch() {
    return texts_of(ArgumentsReader::launch_keys());
}

std::vector<KeyText> tables::work() {
    return texts_of(ArgumentsReader::work_keys());
}

void read_launch(const YamlNode& node, const SourceText& text, ReadSource& read,
                 ParameterUses& uses, Problems& problems) {
    ArgumentsReader(text, read, uses, problems).launch(node);
}

void read_arguments(const YamlNode& node, const SourceText& text, ReadSource& read,
                    ParameterUses& uses, Problems& problems) {
    ArgumentsReader(text, read, uses, problems).arguments(node);
}

void read_work(const YamlNode& node, const SourceText& text, ReadSource& read, ParameterUses& uses,
               Problems& problems) {
    ArgumentsReader(text, read, uses, problems).work(node);
}

std::vector<std::string> element_names() {
    std::vector<std::string> names;
    for (const ElementType each : element_types) names.emplace_back(to_text(each));
    return names;
}

std::pair<std::int64_t, std::int64_t> integers_of(model::ElementType type) {
    const bool with_sign = to_text(type).front() == 'i';
    const auto bits = 8 * model::bytes_of(type) - (with_sign ? 1 : 0);
    const std::int64_t most =
        bits >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << bits) - 1;
    return {with_sign ? -most - 1 : 0, most};
}

}  // namespace perfgate::suite
