// SPDX-License-Identifier: Apache-2.0
// A key of a suite or a profile is described once, by a row of a table: the row reads the value and
// refuses a wrong one at its place. The JSON Schemas and the tables of the documents
// (tests/unit/suite_schema.hpp) are made from the same rows, and so is what a case is measured as
// and what review compares.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "kinds/benchmark/formats/layout.hpp"
#include "kinds/command/command.hpp"
#include "model/measured_as.hpp"
#include "model/source_kernel.hpp"
#include "suite/fields.hpp"

namespace perfgate::suite {

/// What the value of a key is read from.
struct KeyValue {
    const YamlNode& node;
    std::string_view key;
    Problems& problems;
};

/// A sort of values: how one is read (nothing, and a problem, if it is wrong), how it is written in
/// messages, and the members of its JSON Schema.
template <typename T>
struct Sort {
    std::string schema;
    std::function<std::optional<T>(const KeyValue&)> read;
    std::function<std::string(const T&)> text;
};

Sort<bool> boolean();
Sort<std::int64_t> integer(std::int64_t least, std::int64_t most,
                           std::string_view what = "an integer");
/// `expected` names the bounds in messages.
Sort<double> number(std::string bounds, bool (*holds)(double), std::string expected);
/// "3%" or 0.03, of which `holds`; others are refused with `expected`.
Sort<double> fraction(
    std::string schema = R"("$ref": "#/definitions/fraction")",
    bool (*holds)(double) = [](double) { return true; }, std::string expected = {});
/// A time with its unit, in seconds.
Sort<double> seconds(std::string_view example, double longest_s);
Sort<std::string> text(std::string_view what, std::size_t longest);
Sort<std::string> slug();
/// Any scalar: YAML reads a name such as 3 as a number.
Sort<std::string> pattern(std::string_view what);
Sort<std::string> word(std::vector<std::string> choices);
/// Names of files, at most 32.
Sort<std::vector<std::string>> files(std::string_view what);

/// A word for each of several values.
template <typename T>
Sort<T> choice(std::vector<std::pair<std::string, T>> choices) {
    std::vector<std::string> words;
    words.reserve(choices.size());
    for (const auto& [name, value] : choices) words.push_back(name);
    Sort<std::string> named = word(std::move(words));
    const auto read = [names = named.read, choices](const KeyValue& value) -> std::optional<T> {
        const std::optional<std::string> found = names(value);
        for (const auto& [name, meant] : choices) {
            if (found == name) return meant;
        }
        return std::nullopt;
    };
    const auto text = [choices](const T& value) {
        for (const auto& [name, meant] : choices) {
            if (meant == value) return name;
        }
        return std::string();
    };
    return {std::move(named.schema), read, text};
}

/// A reference to a definition of the schema.
std::string defined(std::string_view name);

/// "0.5 %".
std::string percent(double fraction);

/// A member of a member: in(&A::b, &B::c).
template <typename... Members>
constexpr auto in(Members... members) {
    return [=](auto& of) -> decltype(auto) { return (of.*....*members); };
}

/// For a key whose node is read later, with others.
inline const YamlNode* node_of(const YamlNode& node, Problems& /*problems*/) {
    return &node;
}

/// What people, editors and documents read about a key.
struct KeyText {
    std::string name;
    std::string help;    ///< Markdown, whole sentences
    std::string schema;  ///< the members of its JSON Schema
    bool required = false;
    std::string usual = {};    ///< what holds if it is not stated; empty: nothing, or the help says
    bool in_overrides = true;  ///< of settings
};

/// Which later value of a key is the weaker one.
enum class Weaker { more, less, any };
/// What a weaker value weakens.
enum class Weakens { gate, sampling, verification };

/// What becomes of a value: `Of` is what a case, or a profile, has in the end.
template <typename Of>
struct Compared : KeyText {
    /// Adds the value in one canonical text, under the key's name or names below it; nothing if it
    /// is the default. Null: the value does not matter to review.
    std::function<void(const Of&, model::MeasuredAs&)> shown;
    std::function<bool(const Of& before, const Of& after)> weaker;  ///< null: any difference is
    Weakens weakens = Weakens::gate;
    bool is_measured_as = false;  ///< `shown` is part of what a case is measured as
};

/// `To` is what values are read into.
template <typename To, typename Of = To>
struct Key : Compared<Of> {
    std::function<void(const KeyValue&, To&)> read;

    /// `reader` is a member function of `To` that takes the KeyValue or its node, or is called with
    /// the KeyValue and the `To`.
    template <typename Reader>
    Key(std::string_view key, std::string_view words, std::string_view values, Reader reader) {
        this->name = key;
        this->help = words;
        this->schema = values;
        read = [reader](const KeyValue& value, To& to) {
            if constexpr (std::invocable<Reader, To&, const KeyValue&>) {
                std::invoke(reader, to, value);
            } else if constexpr (std::invocable<Reader, To&, const YamlNode&>) {
                std::invoke(reader, to, value.node);
            } else {
                reader(value, to);
            }
        };
    }

    /// `reader` returns what is stored in what `into` refers to.
    template <typename Reader, typename Into>
    Key(std::string_view key, std::string_view words, std::string_view values, Reader reader,
        Into into)
        : Key(key, words, values, [reader, into](const KeyValue& value, To& to) {
              std::invoke(into, to) = reader(value.node, value.problems);
          }) {}

    /// A value of the sort, if it is none of the wrong ones.
    template <typename T, typename Into>
    Key(std::string_view key, std::string_view words, const Sort<T>& sort, Into into)
        : Key(key, words, sort.schema, [sort, into](const KeyValue& value, To& to) {
              auto& place = std::invoke(into, to);
              if (auto found = sort.read(value)) store(*std::move(found), place);
          }) {}

    /// The same; review compares what `get` returns.
    template <typename T, typename Into, typename Get>
    Key(std::string_view key, std::string_view words, const Sort<T>& sort, Into into, Weaker way,
        Get get)
        : Key(key, words, sort, into) {
        const auto text_of = [sort, get](const Of& of) {
            return sort.text(static_cast<T>(std::invoke(get, of)));
        };
        this->usual = text_of(Of{});
        *this = std::move(*this).shows(text_of);
        if (way == Weaker::any) return;
        this->weaker = [get, way](const Of& before, const Of& after) {
            const T was = static_cast<T>(std::invoke(get, before));
            const T is = static_cast<T>(std::invoke(get, after));
            return way == Weaker::more ? is > was : is < was;
        };
    }
    template <typename T, typename Into>
    Key(std::string_view key, std::string_view words, const Sort<T>& sort, Into into, Weaker way)
        : Key(key, words, sort, into, way, into) {}

    Key needed() && {
        this->required = true;
        return std::move(*this);
    }
    Key usually(std::string_view value) && {
        this->usual = value;
        return std::move(*this);
    }
    Key outside_overrides() && {
        this->in_overrides = false;
        return std::move(*this);
    }
    Key that_weakens(Weakens what) && {
        this->weakens = what;
        return std::move(*this);
    }
    template <typename IsWeaker>
    Key weaker_if(IsWeaker is_weaker) && {
        this->weaker = is_weaker;
        return std::move(*this);
    }
    /// `show` returns the text, empty for a default, or adds to a MeasuredAs itself.
    template <typename Show>
    Key shows(Show show) && {
        if constexpr (std::invocable<Show, const Of&, model::MeasuredAs&>) {
            this->shown = show;
        } else {
            this->shown = [show, name = this->name](const Of& of, model::MeasuredAs& to) {
                if (std::string text = std::invoke(show, of); !text.empty()) {
                    to[name] = std::move(text);
                }
            };
        }
        return std::move(*this);
    }
    template <typename Show>
    Key measured_as(Show show) && {
        this->is_measured_as = true;
        return std::move(*this).shows(show);
    }

  private:
    template <typename T, typename Place>
    static void store(T value, Place& place) {
        if constexpr (std::is_assignable_v<Place&, T> && !std::is_arithmetic_v<Place>) {
            place = std::move(value);
        } else {
            place = static_cast<Place>(value);
        }
    }
};

template <typename Rows>
std::vector<std::string> key_names(const Rows& keys) {
    std::vector<std::string> names;
    names.reserve(keys.size());
    for (const auto& key : keys) names.push_back(key.name);
    return names;
}

/// The rows without what they do.
template <typename Rows>
std::vector<KeyText> texts_of(const Rows& keys) {
    return {keys.begin(), keys.end()};
}

/// One after the other; of rows with one name the first.
std::vector<KeyText> joined(const std::vector<std::vector<KeyText>>& tables);

/// Reads those of the keys that the map has, in the order of the rows.
template <typename To, typename Of>
void read_keys(const Fields& fields, const std::vector<Key<To, Of>>& keys, To& to,
               Problems& problems) {
    for (const auto& key : keys) {
        const YamlNode* node =
            key.required ? fields.require(key.name, problems) : fields.find(key.name);
        if (node != nullptr) key.read({*node, key.name, problems}, to);
    }
}

template <typename Of>
model::MeasuredAs measured_as(const std::vector<Compared<Of>>& keys, const Of& of) {
    model::MeasuredAs all;
    for (const auto& key : keys) {
        if (key.is_measured_as) key.shown(of, all);
    }
    return all;
}

/// A key by which a later state is weaker.
struct WeakerKey {
    Weakens weakens = Weakens::gate;
    std::string key, was, is;
};

template <typename Rows, typename Of>
std::vector<WeakerKey> weaker_keys(const Rows& keys, const Of& before, const Of& after) {
    std::vector<WeakerKey> found;
    for (const auto& key : keys) {
        if (!key.shown || (key.weaker && !key.weaker(before, after))) continue;
        model::MeasuredAs was, is;
        key.shown(before, was);
        key.shown(after, is);
        if (key.weaker) {
            found.push_back({key.weakens, key.name, was[key.name], is[key.name]});
            continue;
        }
        for (const model::DifferingKey& one : model::differing_keys(was, is)) {
            // A metric more is no loosening.
            if (!one.adds_metrics) found.push_back({key.weakens, one.key, one.was, one.is});
        }
    }
    return found;
}

/// A program's case: its command, and which of its activity or results it measures.
struct Program {
    const command::Command& command;
    const command::Piece& piece;
    const benchmark::Layout* layout;  ///< of the results; null: it is recorded
};

/// What a case is measured as (model/measured_as.hpp), from its suite. Folders are as in the suite.
model::MeasuredAs measured_as(const model::Subject& subject);
model::MeasuredAs measured_as(const Program& program);
/// A source's kernel: what it works on. File, kernel, launch and compiling are code, whose changes
/// are judged.
model::MeasuredAs measured_as(const model::SourceKernel& kernel);

/// The keys of two subjects of one kind; none if their kinds differ.
std::vector<WeakerKey> weaker_keys(const model::Subject& before, const model::Subject& after);
std::vector<WeakerKey> weaker_keys(const Program& before, const Program& after);
std::vector<WeakerKey> weaker_keys(const model::SourceKernel& before,
                                   const model::SourceKernel& after);

/// The rows of each map of a suite and of the profile; each table is beside its reader.
namespace tables {
std::vector<KeyText> profile();
std::vector<KeyText> suite();
std::vector<KeyText> settings();
std::vector<KeyText> tolerance();
std::vector<KeyText> overriding();
std::vector<KeyText> plugin();
std::vector<KeyText> program();
std::vector<KeyText> command();
std::vector<KeyText> capture();
std::vector<KeyText> label();
std::vector<KeyText> health();
std::vector<KeyText> benchmark();
std::vector<KeyText> value();
std::vector<KeyText> python();
std::vector<KeyText> source();
std::vector<KeyText> launch();
std::vector<KeyText> check();
std::vector<KeyText> work();
}  // namespace tables

}  // namespace perfgate::suite
