// SPDX-License-Identifier: Apache-2.0
#include "model/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "model/error.hpp"
#include "model/text.hpp"

namespace perfgate::model {

namespace {

constexpr std::size_t indent = 2;

/// Nearly every text is: printable ASCII without what JSON escapes.
bool stands_as_it_is(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

}  // namespace

void JsonWriter::separate() {
    if (after_key_) {
        after_key_ = false;
        return;
    }
    if (open_.empty()) return;
    if (!open_.back().empty) out_ += ',';
    open_.back().empty = false;
    if (open_.back().layout == JsonLayout::lines) {
        out_ += '\n';
        out_.append(indent * open_.size(), ' ');
    }
}

void JsonWriter::begin(char opening, char closing, JsonLayout layout) {
    separate();
    const JsonLayout around = open_.empty() ? outermost_ : open_.back().layout;
    out_ += opening;
    open_.push_back({closing, around == JsonLayout::compact ? around : layout, true});
}

void JsonWriter::end() {
    const Open closed = open_.back();
    open_.pop_back();
    if (closed.layout == JsonLayout::lines && !closed.empty) {
        out_ += '\n';
        out_.append(indent * open_.size(), ' ');
    }
    out_ += closed.closing;
}

void JsonWriter::key(std::string_view name) {
    separate();
    quote(name);
    out_ += open_.back().layout == JsonLayout::lines ? ": " : ":";
    after_key_ = true;
}

void JsonWriter::value(bool value) {
    separate();
    out_ += value ? "true" : "false";
}

void JsonWriter::value(std::int64_t value) {
    separate();
    fmt::format_to(std::back_inserter(out_), "{}", value);
}

void JsonWriter::value(std::uint64_t value) {
    separate();
    fmt::format_to(std::back_inserter(out_), "{}", value);
}

void JsonWriter::value(double value) {
    if (!std::isfinite(value)) {
        throw Error(fmt::format("cannot write {} as JSON, after …{}", value,
                                printable(std::string_view(out_).substr(
                                    out_.size() - std::min<std::size_t>(out_.size(), 80)))));
    }
    separate();
    out_ += number_text(value);
}

void JsonWriter::real(double value) {
    this->value(value);
    if (number_text(value).find_first_of(".e") == std::string::npos) out_ += ".0";
}

void JsonWriter::value(std::string_view text) {
    separate();
    quote(text);
}

void JsonWriter::quote(std::string_view text) {
    out_ += '"';
    if (stands_as_it_is(text)) {
        out_ += text;
        out_ += '"';
        return;
    }
    for (const char c : valid_utf8(text)) {
        switch (c) {
            case '"':
                out_ += "\\\"";
                break;
            case '\\':
                out_ += "\\\\";
                break;
            case '\n':
                out_ += "\\n";
                break;
            case '\r':
                out_ += "\\r";
                break;
            case '\t':
                out_ += "\\t";
                break;
            default:
                if (static_cast<unsigned char>(c) < 0x20) {
                    fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<unsigned>(c));
                } else {
                    out_ += c;
                }
        }
    }
    out_ += '"';
}

std::string JsonWriter::finish() {
    if (outermost_ == JsonLayout::lines) out_ += '\n';
    return std::move(out_);
}

void write_if_known(JsonWriter& json, std::string_view key, const std::optional<double>& value) {
    if (value && std::isfinite(*value)) write_field(json, key, *value);
}

void write_if_known(JsonWriter& json, std::string_view key, const std::optional<bool>& value) {
    if (value) write_field(json, key, *value);
}

}  // namespace perfgate::model
