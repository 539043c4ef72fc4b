// SPDX-License-Identifier: Apache-2.0
// One description of a struct serves reading and writing:
//
//     PERFGATE_FIELDS(Figure, required(metric), optional(unit, source), with(required, before,
//                     not_negative), named(optional, "class", kind))
//
// makes `template <class Archive> void describe(Archive& archive, Described<Archive, Figure>& of)`,
// which calls archive.required("metric", of.metric) and so on. A struct that needs more has that
// function written out, with PERFGATE_GROUPS(required(metric), …) for its fields. `Reader` and
// `Writer` are the two archives. The description stands in namespace document or in the struct's
// own, where both find it. Its order is the order in the text. Groups:
//
//     required, optional, always(members…)   as the archives' functions of this name say
//     with(required, member, how…)           with further arguments
//     named(required, "key", member, how…)   another key than the member's name
//     also(expression)                       anything else that is to be done with `archive` and
//     `of`
//
// Further arguments of a field, in any order:
//
//     lines            writing: each element on a line of its own
//     rows             writing: each element as if its type were a row (is_row)
//     absent_if(x)     writing: an optional field is left out where it is x
//     a Form           both: how the field is read and written, where its type does not say it
//     anything else    reading: called as check(JsonValue, member&), to fail or to complete
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "document/json_reader.hpp"
#include "document/json_writer.hpp"
#include "util/text.hpp"

namespace perfgate::document {

/// `const T` for the archive that writes.
template <class Archive, class T>
using Described = std::conditional_t<Archive::reads, T, const T>;

// Calls a macro for each of its arguments: those of PERFGATE_FIELDS, and for each the members.
#define PERFGATE_LATER ()
#define PERFGATE_SCAN(...) \
    PERFGATE_SCAN_1(PERFGATE_SCAN_1(PERFGATE_SCAN_1(PERFGATE_SCAN_1(__VA_ARGS__))))
#define PERFGATE_SCAN_1(...) \
    PERFGATE_SCAN_2(PERFGATE_SCAN_2(PERFGATE_SCAN_2(PERFGATE_SCAN_2(__VA_ARGS__))))
#define PERFGATE_SCAN_2(...) \
    PERFGATE_SCAN_3(PERFGATE_SCAN_3(PERFGATE_SCAN_3(PERFGATE_SCAN_3(__VA_ARGS__))))
#define PERFGATE_SCAN_3(...) __VA_ARGS__
#define PERFGATE_EACH_GROUP(group, ...) \
    PERFGATE_GROUP_##group;             \
    __VA_OPT__(PERFGATE_NEXT_GROUPS PERFGATE_LATER(__VA_ARGS__))
#define PERFGATE_NEXT_GROUPS() PERFGATE_EACH_GROUP
#define PERFGATE_MEMBERS(kind, member, ...) \
    archive.kind(#member, of.member)        \
        __VA_OPT__(; PERFGATE_NEXT_MEMBERS PERFGATE_LATER(kind, __VA_ARGS__))
#define PERFGATE_NEXT_MEMBERS() PERFGATE_MEMBERS
#define PERFGATE_GROUP_required(...) PERFGATE_MEMBERS(required, __VA_ARGS__)
#define PERFGATE_GROUP_optional(...) PERFGATE_MEMBERS(optional, __VA_ARGS__)
#define PERFGATE_GROUP_always(...) PERFGATE_MEMBERS(always, __VA_ARGS__)
#define PERFGATE_GROUP_with(kind, member, ...) archive.kind(#member, of.member, __VA_ARGS__)
#define PERFGATE_GROUP_named(kind, key, member, ...) \
    archive.kind(key, of.member __VA_OPT__(, ) __VA_ARGS__)
#define PERFGATE_GROUP_also(...) __VA_ARGS__
#define PERFGATE_GROUPS(...) PERFGATE_SCAN(PERFGATE_EACH_GROUP(__VA_ARGS__))
#define PERFGATE_FIELDS(Type, ...)                                                        \
    template <class Archive>                                                              \
    void describe(Archive& archive, ::perfgate::document::Described<Archive, Type>& of) { \
        PERFGATE_GROUPS(__VA_ARGS__)                                                      \
    }

#define PERFGATE_ROW_FIELDS(Type, ...)           \
    constexpr void stands_as_row(const Type*) {} \
    PERFGATE_FIELDS(Type, __VA_ARGS__)

/// How an object of this type stands in a document whose layout is not compact.
template <class T>
inline constexpr JsonLayout layout_of = JsonLayout::compact;

/// Whether objects of this type are written as arrays of their fields, because there are many of
/// them (PERFGATE_ROW_FIELDS). Absent fields are null, and left out at the end.
template <class T>
inline constexpr bool is_row = requires(const T* value) {
    stands_as_row(value);
};

struct Lines {};
inline constexpr Lines lines;
struct Rows {};
inline constexpr Rows rows;

template <class T>
struct AbsentIf {
    T value;
};
template <class T>
constexpr AbsentIf<T> absent_if(T value) {
    return {std::move(value)};
}

template <class T>
struct Form {
    void (*write)(JsonWriter&, const T&);
    void (*read)(JsonValue, T&);
};

/// The name of a field, and the one that it had up to a version.
struct Key {
    constexpr Key(const char* name_now) : name(name_now) {}
    constexpr Key(std::string_view name_now, std::string_view name_before, std::int64_t version)
        : name(name_now), old_name(name_before), last_old_version(version) {}

    std::string_view in(std::int64_t version) const {
        return version != 0 && version <= last_old_version ? old_name : name;
    }

    std::string_view name, old_name;
    std::int64_t last_old_version = 0;
};
/// renamed("excluded", "set_aside", 2): it was "set_aside" in versions 1 and 2.
constexpr Key renamed(std::string_view name, std::string_view before, std::int64_t last_version) {
    return {name, before, last_version};
}

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

// --- reading

class Reader {
  public:
    static constexpr bool reads = true;

    explicit Reader(JsonValue object) : object_(object) {}

    /// A field that a document cannot do without.
    template <class T, class... How>
    void required(Key key, T& member, const How&... how) {
        take(object_.at(name_of(key)), member, how...);
    }
    /// A field that keeps its default where it is absent or null. It is always written.
    template <class T, class... How>
    void always(Key key, T& member, const How&... how) {
        if (const auto value = object_.find(name_of(key))) take(*value, member, how...);
    }
    /// A field that is left out where it has its default.
    template <class T, class... How>
    void optional(Key key, T& member, const How&... how) {
        always(key, member, how...);
    }
    /// An optional struct whose fields stand among the object's own: it is there where `key` is.
    template <class T>
    void inlined(Key key, std::optional<T>& member) {
        if (object_.find(name_of(key))) describe(*this, member.emplace());
    }
    /// A field for other programs, which follows from the rest and is not read.
    template <class Make>
    void derived(Key /*key*/, const Make& /*make*/) {}
    /// What must hold between fields: check(JsonValue object) fails where it does not.
    template <class Check>
    void check(const Check& check) {
        check(object_);
    }
    bool has(Key key) const { return object_.find(name_of(key)).has_value(); }

    JsonValue object() const { return object_; }

  private:
    std::string_view name_of(const Key& key) const { return key.in(object_.version()); }

    template <class T, class... How>
    static void take(JsonValue value, T& member, const How&... how) {
        if constexpr (!(std::is_same_v<How, Form<T>> || ...)) read(value, member);
        (apply(value, member, how), ...);
    }
    template <class T, class How>
    static void apply(JsonValue value, T& member, const How& how) {
        if constexpr (std::is_same_v<How, Form<T>>) {
            how.read(value, member);
        } else if constexpr (std::is_invocable_v<How, JsonValue, T&>) {
            how(value, member);
        }
    }

    JsonValue object_;
};

inline void read(JsonValue value, bool& out) {
    out = value.boolean();
}
inline void read(JsonValue value, double& out) {
    out = value.number();
}
inline void read(JsonValue value, std::int64_t& out) {
    out = value.count();
}
inline void read(JsonValue value, std::uint64_t& out) {
    out = value.seed();
}
inline void read(JsonValue value, std::string& out) {
    out = value.text();
}
inline void read(JsonValue value, std::uint32_t& out) {
    const std::int64_t number = value.count();
    if (number > std::numeric_limits<std::uint32_t>::max()) {
        value.fail("expected an integer of 32 bits");
    }
    out = static_cast<std::uint32_t>(number);
}
inline void read(JsonValue value, int& out) {
    const std::int64_t number = value.count();
    if (number > std::numeric_limits<int>::max()) value.fail("expected an integer of 32 bits");
    out = static_cast<int>(number);
}

template <class T>
void read(JsonValue value, std::optional<T>& out) {
    read(value, out.emplace());
}

template <class T>
void read(JsonValue value, std::vector<T>& out) {
    out.clear();
    if (value.kind() == JsonKind::array) out.reserve(value.size());
    value.elements([&](JsonValue element) { read(element, out.emplace_back()); });
}

template <class T, std::size_t size>
void read(JsonValue value, std::array<T, size>& out) {
    const std::size_t found = value.kind() == JsonKind::array ? value.size() : size;
    if (found != size) value.fail("expected {} sizes, found {}", size, found);
    auto next = out.begin();
    value.elements([&](JsonValue element) { read(element, *next++); });
}

template <class T>
void read(JsonValue value, std::map<std::string, T>& out) {
    out.clear();
    // Documents are sorted, so that the hint makes each insertion constant.
    value.members([&](std::string_view key, JsonValue member) {
        read(member, out.emplace_hint(out.end(), key, T())->second);
    });
}

/// The words for the values of an enum, which are 0, 1, …: what its to_text says of them.
template <class Enum>
std::vector<std::string_view> words_of() {
    constexpr std::size_t most = 100;
    std::vector<std::string_view> words;
    for (std::size_t i = 0; i < most; ++i) {
        const std::string_view word = to_text(static_cast<Enum>(i));
        if (i > 0 && word == util::no_word) break;
        words.push_back(word);
    }
    return words;
}

template <class Enum>
requires std::is_enum_v<Enum>
void read(JsonValue value, Enum& out) {
    static const std::vector<std::string_view> words = words_of<Enum>();
    const auto found = std::ranges::find(words, value.text());
    if (found == words.end()) fail_choice(value, words);
    out = static_cast<Enum>(found - words.begin());
}

/// A struct with a description.
template <class T>
requires std::is_class_v<T>
void read(JsonValue value, T& out) {
    Reader reader(value);
    describe(reader, out);
}

// --- writing

template <class T>
void write_row(JsonWriter& json, const T& value);

class Writer {
  public:
    static constexpr bool reads = false;

    explicit Writer(JsonWriter& json, bool row = false) : json_(json), row_(row) {}

    template <class T, class... How>
    void required(Key key, const T& member, const How&... how) {
        for (; nulls_ > 0; --nulls_) json_.null();
        if (!row_) json_.key(key.in(json_.version()));
        if constexpr ((std::is_same_v<How, Form<T>> || ...)) {
            (apply(member, how), ...);
        } else if constexpr ((std::is_same_v<How, Lines> || ...)) {
            write_lines(member);
        } else if constexpr ((std::is_same_v<How, Rows> || ...)) {
            json_.begin_array(JsonLayout::compact);
            for (const auto& element : member) write_row(json_, element);
            json_.end_array();
        } else if constexpr (is_optional<T>) {
            write(json_, *member);
        } else {
            write(json_, member);
        }
    }
    template <class T, class... How>
    void always(Key key, const T& member, const How&... how) {
        required(key, member, how...);
    }
    template <class T, class... How>
    void optional(Key key, const T& member, const How&... how) {
        if (!is_absent(member, how...)) {
            required(key, member, how...);
        } else if (row_) {
            ++nulls_;
        }
    }
    template <class T>
    void inlined(Key /*key*/, const std::optional<T>& member) {
        if (member) describe(*this, *member);
    }
    template <class Make>
    void derived(Key key, const Make& make) {
        write_field(json_, key.in(json_.version()), make());
    }
    template <class Check>
    void check(const Check& /*check*/) {}
    static bool has(Key /*key*/) { return true; }

    JsonWriter& json() { return json_; }

  private:
    template <class T, class... How>
    static bool is_absent(const T& member, const How&... how) {
        if constexpr (std::is_same_v<T, std::optional<double>>) {
            return !member || !std::isfinite(*member);  // JSON has no others
        } else if constexpr (is_optional<T>) {
            return !member;
        } else if constexpr ((std::is_same_v<How, AbsentIf<T>> || ...)) {
            return (equals(member, how) || ...);
        } else if constexpr (requires(T container) { container.clear(); }) {
            return member.empty();
        } else {
            return member == T();
        }
    }
    template <class T, class How>
    static bool equals(const T& member, const How& how) {
        if constexpr (std::is_same_v<How, AbsentIf<T>>) return member == how.value;
        return false;
    }
    template <class T, class How>
    void apply(const T& member, const How& how) {
        if constexpr (std::is_same_v<How, Form<T>>) how.write(json_, member);
    }
    template <class T>
    void write_lines(const std::vector<T>& values) {
        json_.begin_array(JsonLayout::lines);
        for (const T& value : values) write(json_, value);
        json_.end_array();
    }
    template <class T>
    void write_lines(const std::map<std::string, T>& values) {
        json_.begin_object(JsonLayout::lines);
        for (const auto& [key, value] : values) write_field(json_, key, value);
        json_.end_object();
    }

    JsonWriter& json_;
    bool row_;
    std::size_t nulls_ = 0;  ///< absent fields of a row, to be written before the next one
};

template <class T>
void write_row(JsonWriter& json, const T& value) {
    json.begin_array(JsonLayout::compact);
    Writer writer(json, true);
    describe(writer, value);
    json.end_array();
}

template <class Enum>
requires std::is_enum_v<Enum>
void write(JsonWriter& json, Enum value) {
    json.value(to_text(value));
}

/// A struct with a description.
template <class T>
requires std::is_class_v<T>
void write(JsonWriter& json, const T& value) {
    if constexpr (is_row<T>) {
        write_row(json, value);
    } else {
        json.begin_object(layout_of<T>);
        Writer writer(json);
        describe(writer, value);
        json.end_object();
    }
}

// --- documents

/// What a document's first two fields say.
struct Schema {
    std::string_view name;
    std::int64_t oldest_version, version;  ///< those that are read; the last one is written
};

template <class T>
std::string write_document(const Schema& schema, const T& value,
                           JsonLayout layout = JsonLayout::lines) {
    JsonWriter json(layout, schema.version);
    json.begin_object(layout);
    write_field(json, "schema", schema.name);
    write_field(json, "version", schema.version);
    Writer writer(json);
    describe(writer, value);
    json.end_object();
    return json.finish();
}

template <class T>
void read_document(JsonDocument& document, const Schema& schema, T& value) {
    read(check_schema(document, schema.name, schema.oldest_version, schema.version), value);
}

/// A struct as one line, without its newline.
template <class T>
std::string write_line(const T& value) {
    JsonWriter json(JsonLayout::compact);
    write(json, value);
    return json.finish();
}

// --- of fields

/// For quantities that cannot be below zero.
struct NotNegative {
    void operator()(JsonValue value, double number) const {
        if (number < 0) value.fail("expected a number that is not negative");
    }
    void operator()(JsonValue value, const std::optional<double>& number) const {
        (*this)(value, *number);
    }
    void operator()(JsonValue value, const std::map<std::string, double>& numbers) const {
        for (const auto& [name, number] : numbers) (*this)(value, number);
    }
};
inline constexpr NotNegative not_negative;

/// The same for what is a share.
struct IsShare {
    void operator()(JsonValue value, double share) const {
        if (!(share >= 0 && share <= 1)) value.fail("expected a share from 0 to 1");
    }
    void operator()(JsonValue value, const std::vector<double>& shares) const {
        for (const double share : shares) (*this)(value, share);
    }
};
inline constexpr IsShare is_share;

/// For integers that may be below zero.
inline constexpr Form<std::int64_t> with_sign{
    [](JsonWriter& json, const std::int64_t& value) { json.value(value); },
    [](JsonValue value, std::int64_t& out) { out = value.integer(); }};

}  // namespace perfgate::document
