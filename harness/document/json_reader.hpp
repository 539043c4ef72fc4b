// SPDX-License-Identifier: Apache-2.0
// Reading JSON documents strictly: what is wrong is named with its JSON path, time and memory are
// bounded by the text's size, fields that nobody asks for are ignored.
//
//     const JsonDocument document(text, "run.json");
//     const JsonValue root = check_schema(document, "perfgate.run", 1, 2);
//     run.backend = root.at("backend").text();
//
// archive.hpp describes the fields of a document once, for reading and writing.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate::document {

enum class JsonKind : std::uint8_t { null, boolean, integer, real, text, array, object };

/// Containers nested deeper than this are refused.
inline constexpr std::size_t json_depth_limit = 64;

/// "a string", "a number", …
std::string_view to_text(JsonKind kind);

class JsonValue;

/// A parsed text. Values are 16-byte nodes in document order and strings lie end to end.
class JsonDocument {
  public:
    /// `source` names the document in messages. Throws InputError with line and column for what is
    /// no JSON, and with the path for keys that appear twice. A long text is best moved here: it is
    /// gone as soon as it is parsed.
    JsonDocument(std::string json, std::string_view source);

    JsonValue root() const;
    const std::string& source() const { return source_; }

    /// As check_schema found it; 0: the text has none, and is of this perfgate.
    std::int64_t version() const { return version_; }
    void set_version(std::int64_t version) { version_ = version; }

    struct Node {
        JsonKind kind = JsonKind::null;
        bool negative = false;      ///< integers: `payload` is an int64 in two's complement
        std::uint32_t size = 0;     ///< containers: members or elements; text: bytes
        std::uint64_t payload = 0;  ///< bits of the number; text: offset; containers: node after it
    };

  private:
    friend class JsonValue;
    friend class JsonBuilder;

    std::uint32_t after(std::uint32_t node) const;
    std::string_view text_of(std::uint32_t node) const;
    std::string path_to(std::uint32_t node) const;

    std::string source_;
    std::int64_t version_ = 0;
    std::size_t repetition_limit_ = 0;
    mutable std::size_t repeated_ = 0;  ///< so far, by JsonValue::repetition()
    std::vector<Node> nodes_;           ///< an object's members are a key (text) and its value each
    std::string texts_;
};

/// A place in a document: cheap to copy, valid as long as the document.
class JsonValue {
  public:
    JsonValue(const JsonDocument& document, std::uint32_t node)
        : document_(&document), node_(node) {}

    JsonKind kind() const { return here().kind; }

    /// Each throws InputError where the value is of another kind.
    bool boolean() const;
    double number() const;
    std::int64_t integer() const;
    std::int64_t count() const;  ///< an integer, not negative
    std::uint64_t seed() const;  ///< an integer of 64 bits without a sign
    /// A count of values, `least` or more, that the document has but once. Throws where all that a
    /// document repeats adds up to more than a list of the text's size could hold, or 500,000: a
    /// short text must not become gigabytes.
    std::size_t repetition(std::size_t least) const;
    std::string_view text() const;

    /// The member, or nothing where it is absent or null. Throws where this is no object.
    std::optional<JsonValue> find(std::string_view key) const;
    /// The member; throws where it is absent.
    JsonValue at(std::string_view key) const;

    /// Calls `visit(element)` for each element of an array.
    template <class Visit>
    void elements(Visit&& visit) const {
        expect(JsonKind::array);
        for (std::uint32_t child = node_ + 1; child < end(); child = document_->after(child)) {
            visit(JsonValue(*document_, child));
        }
    }
    /// Calls `visit(key, value)` for each member of an object, in the text's order.
    template <class Visit>
    void members(Visit&& visit) const {
        expect(JsonKind::object);
        for (std::uint32_t key = node_ + 1; key < end(); key = document_->after(key + 1)) {
            visit(document_->text_of(key), JsonValue(*document_, key + 1));
        }
    }
    std::size_t size() const { return here().size; }  ///< of an array or object

    std::int64_t version() const { return document_->version(); }

    /// "results[2].name", for messages; empty: the root.
    std::string path() const { return document_->path_to(node_); }
    /// Throws InputError: "SOURCE: PATH: MESSAGE".
    [[noreturn]] void fail(const std::string& message) const;
    template <class First, class... Rest>
    [[noreturn]] void fail(fmt::format_string<First, Rest...> text, First&& first,
                           Rest&&... rest) const {
        fail(fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...));
    }

  private:
    const JsonDocument::Node& here() const { return document_->nodes_[node_]; }
    std::uint32_t end() const { return static_cast<std::uint32_t>(here().payload); }
    void expect(JsonKind kind) const;
    std::optional<JsonValue> member(std::string_view key) const;

    const JsonDocument* document_;
    std::uint32_t node_;
    /// Where the member that was asked for last ends; 0: none was. Fields stand in the order in
    /// which they are asked for, so that the next one is there.
    mutable std::uint32_t next_ = 0;
};

/// The root, after checking `schema` and `version`: another schema is another kind of file, a
/// version that is not from `oldest` to `newest` needs another perfgate. The document keeps its
/// version.
JsonValue check_schema(JsonDocument& document, std::string_view schema, std::int64_t oldest,
                       std::int64_t newest);
inline JsonValue check_schema(JsonDocument& document, std::string_view schema,
                              std::int64_t version) {
    return check_schema(document, schema, version, version);
}

/// Says which of `choices` was expected.
[[noreturn]] void fail_choice(JsonValue value, std::span<const std::string_view> choices);

}  // namespace perfgate::document
