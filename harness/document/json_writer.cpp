// SPDX-License-Identifier: Apache-2.0
#include "document/json_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "util/error.hpp"
#include "util/text.hpp"

namespace perfgate::document {

namespace {

constexpr std::size_t indent = 2;

/// Bytes that `text` begins with and that a JSON string holds as they are: printable ASCII but for
/// what JSON escapes. Nearly every text is nothing else.
std::size_t unescaped_length(std::string_view text) {
    const auto end = std::ranges::find_if(
        text, [](char c) { return c < ' ' || c > '~' || c == '"' || c == '\\'; });
    return static_cast<std::size_t>(end - text.begin());
}

/// An ASCII character as a JSON string holds it.
void append_escaped(std::string& out, char c) {
    switch (c) {
        case '"':
            out += "\\\"";
            break;
        case '\\':
            out += "\\\\";
            break;
        case '\n':
            out += "\\n";
            break;
        case '\r':
            out += "\\r";
            break;
        case '\t':
            out += "\\t";
            break;
        default:
            if (static_cast<unsigned char>(c) < 0x20) {
                fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
            } else {
                out += c;
            }
    }
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
    std::string room;
    separate();
    quote(clean_ == nullptr ? name : clean_(name, room));
    out_ += open_.back().layout == JsonLayout::lines ? ": " : ":";
    after_key_ = true;
}

void JsonWriter::value(bool value) {
    separate();
    out_ += value ? "true" : "false";
}

void JsonWriter::value(std::int64_t value) {
    separate();
    const fmt::format_int digits(value);
    out_.append(digits.data(), digits.size());
}

void JsonWriter::value(std::uint64_t value) {
    separate();
    const fmt::format_int digits(value);
    out_.append(digits.data(), digits.size());
}

void JsonWriter::value(double value) {
    if (!std::isfinite(value)) {
        throw util::Error("cannot write {} as JSON, after …{}", value,
                          util::printable(std::string_view(out_).substr(
                              out_.size() - std::min<std::size_t>(out_.size(), 80))));
    }
    separate();
    util::append_number(out_, value);
}

void JsonWriter::real(double value) {
    const std::size_t start = out_.size();
    this->value(value);
    if (out_.find_first_of(".e", start) == std::string::npos) out_ += ".0";
}

void JsonWriter::value(std::string_view text) {
    std::string room;
    clean_value(clean_ == nullptr ? text : clean_(text, room));
}

void JsonWriter::clean_value(std::string_view text) {
    separate();
    quote(text);
}

void JsonWriter::null() {
    separate();
    out_ += "null";
}

void JsonWriter::quote(std::string_view text) {
    out_ += '"';
    while (true) {
        const std::size_t unescaped = unescaped_length(text);
        out_ += text.substr(0, unescaped);
        text.remove_prefix(unescaped);
        if (text.empty()) break;
        const util::Utf8Step step = util::utf8_step(text, 0);
        if (step.valid && step.length == 1) {
            append_escaped(out_, text.front());
        } else {
            out_ += step.valid ? text.substr(0, step.length) : util::replacement_character;
        }
        text.remove_prefix(step.length);
    }
    out_ += '"';
}

std::string JsonWriter::finish() {
    if (outermost_ == JsonLayout::lines) out_ += '\n';
    return std::move(out_);
}

}  // namespace perfgate::document
