// SPDX-License-Identifier: Apache-2.0
// Writing JSON the same way every time: fields in the order they are given, doubles in their
// shortest form, text made valid UTF-8, and a layout in which one line holds one thing, so that
// version control merges it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perfgate::document {

/// `lines`: each member on a line of its own. `compact`: all of it on one line, which holds for
/// everything inside too.
enum class JsonLayout { lines, compact };

class JsonWriter {
  public:
    /// Makes a text fit for its readers: the text itself, or what `room` then has.
    using Clean = std::string_view (*)(std::string_view text, std::string& room);

    /// `compact` makes the whole document one line.
    /// `version` is that of the document, 0 where it has none, as JsonDocument::version.
    /// `clean` is applied to every text and key; null: they are written as they are.
    explicit JsonWriter(JsonLayout layout = JsonLayout::lines, std::int64_t version = 0,
                        Clean clean = nullptr)
        : outermost_(layout), version_(version), clean_(clean) {}

    std::int64_t version() const { return version_; }

    void begin_object(JsonLayout layout) { begin('{', '}', layout); }
    void end_object() { end(); }
    void begin_array(JsonLayout layout) { begin('[', ']', layout); }
    void end_array() { end(); }
    void key(std::string_view name);

    void value(bool value);
    void value(std::int64_t value);
    void value(std::uint64_t value);
    /// Throws Error for NaN and infinity: JSON has none.
    void value(double value);
    void value(std::string_view text);
    void clean_value(std::string_view text);  ///< one that needs no cleaning
    void null();
    void value(const std::string& text) { value(std::string_view(text)); }
    void value(const char* text) { value(std::string_view(text)); }

    /// A double that reads back as a double: 1.0, not 1.
    void real(double value);

    /// The text, which ends with a newline where it has lines. The writer is used up.
    std::string finish();

  private:
    struct Open {
        char closing;
        JsonLayout layout;
        bool empty;
    };
    void begin(char opening, char closing, JsonLayout layout);
    void end();
    void separate();
    void quote(std::string_view text);

    JsonLayout outermost_;
    std::int64_t version_;
    Clean clean_;
    std::string out_;
    std::vector<Open> open_;
    bool after_key_ = false;
};

inline void write(JsonWriter& json, bool value) {
    json.value(value);
}
inline void write(JsonWriter& json, double value) {
    json.value(value);
}
inline void write(JsonWriter& json, std::int64_t value) {
    json.value(value);
}
inline void write(JsonWriter& json, std::uint64_t value) {
    json.value(value);
}
inline void write(JsonWriter& json, int value) {
    json.value(std::int64_t{value});
}
inline void write(JsonWriter& json, std::uint32_t value) {
    json.value(std::uint64_t{value});
}
inline void write(JsonWriter& json, std::string_view value) {
    json.value(value);
}
inline void write(JsonWriter& json, const std::string& value) {
    json.value(value);
}

/// Without this one a literal would become a bool.
inline void write(JsonWriter& json, const char* value) {
    json.value(value);
}

template <class T>
void write(JsonWriter& json, const std::optional<T>& value) {
    if (!value) return json.null();
    write(json, *value);
}

template <class T, std::size_t size>
void write(JsonWriter& json, const std::array<T, size>& values) {
    json.begin_array(JsonLayout::compact);
    for (const T& value : values) write(json, value);
    json.end_array();
}

template <class T>
void write(JsonWriter& json, const std::vector<T>& values) {
    json.begin_array(JsonLayout::compact);
    for (const T& value : values) write(json, value);
    json.end_array();
}

template <class T>
void write(JsonWriter& json, const std::map<std::string, T>& values) {
    json.begin_object(JsonLayout::compact);
    for (const auto& [key, value] : values) {
        json.key(key);
        write(json, value);
    }
    json.end_object();
}

template <class T>
void write_field(JsonWriter& json, std::string_view key, const T& value) {
    json.key(key);
    write(json, value);
}

/// Leaves the field out where its value is the default: "", 0, false, nothing in it.
template <class T>
void write_unless_default(JsonWriter& json, std::string_view key, const T& value) {
    if (!(value == T())) write_field(json, key, value);
}

}  // namespace perfgate::document
