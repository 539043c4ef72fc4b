// SPDX-License-Identifier: Apache-2.0
#include "traces/json_pieces.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "util/error.hpp"

namespace perfgate::traces {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

std::string too_long() {
    return fmt::format("a value is longer than {} bytes", JsonPieces::longest_value);
}

bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

}  // namespace

JsonPieces::JsonPieces(Fill fill, std::string source)
    : fill_(std::move(fill)), source_(std::move(source)), buffer_(2 * chunk_bytes + padding) {}

void JsonPieces::fail(std::string_view what) const {
    throw util::InputError("{}: byte {}: {}", source_, before_ + begin_, what);
}

/// Fills the buffer behind what is kept of it. False at the end of the text.
bool JsonPieces::more() {
    if (!keep_) begin_ = at_;
    if (begin_ != 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        before_ += begin_;
        at_ -= begin_;
        end_ -= begin_;
        begin_ = 0;
    }
    if (end_ > longest_value) fail(too_long());
    if (before_ + end_ > most_bytes) {
        fail(fmt::format("the text is longer than {} bytes: record less", most_bytes));
    }
    if (buffer_.size() < end_ + chunk_bytes + padding) buffer_.resize(2 * buffer_.size());
    const std::size_t filled = fill_(buffer_.data() + end_, chunk_bytes);
    end_ += filled;
    return filled != 0;
}

char JsonPieces::next() {
    if (at_ == end_ && !more()) fail("the JSON ends too early: the file is truncated");
    return buffer_[at_];
}

char JsonPieces::next_visible() {
    while (is_space(next())) ++at_;
    if (!keep_) begin_ = at_;
    return next();
}

void JsonPieces::pass_container() {
    std::size_t depth = 0;
    bool text = false, escaped = false;
    for (;; ++at_) {
        const char c = next();
        if (text) {
            if (escaped) {
                escaped = false;
            } else if (c == '\\') {
                escaped = true;
            } else if (c == '"') {
                text = false;
                if (depth == 0) break;
            }
            continue;
        }
        if (c == '"') {
            text = true;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            break;
        }
    }
    ++at_;
}

void JsonPieces::pass_value() {
    const char c = next_visible();
    if (c == '"' || c == '{' || c == '[') return pass_container();
    const std::size_t begin = before_ + at_;
    while (at_ != end_ || more()) {
        const char each = buffer_[at_];
        if (each == ',' || each == '}' || each == ']' || is_space(each)) break;
        ++at_;
    }
    if (before_ + at_ == begin) fail("a value is missing");
}

bool JsonPieces::enter_object() {
    while (at_ != end_ || more()) {
        if (!is_space(buffer_[at_])) break;
        ++at_;
    }
    if (at_ == end_ || buffer_[at_] != '{') return false;
    ++at_;
    first_ = true;
    return true;
}

std::optional<std::string> JsonPieces::key() {
    char c = next_visible();
    if (c == '}') {
        ++at_;
        return std::nullopt;
    }
    if (!std::exchange(first_, false)) {
        if (c != ',') fail("a comma is missing");
        ++at_;
        c = next_visible();
    }
    if (c != '"') fail("a key is missing");
    const std::string_view text = value();
    std::string key(text.substr(1, text.size() - 2));
    if (next_visible() != ':') fail("a colon is missing");
    ++at_;
    next_visible();
    return key;
}

bool JsonPieces::enter_array() {
    if (next_visible() != '[') return false;
    ++at_;
    first_ = true;
    return true;
}

std::optional<std::string_view> JsonPieces::element() {
    const char c = next_visible();
    if (c == ']') {
        ++at_;
        first_ = false;  // of the root, whose member the array was
        return std::nullopt;
    }
    if (!std::exchange(first_, false)) {
        if (c != ',') fail("a comma is missing");
        ++at_;
    }
    return value();
}

std::string_view JsonPieces::value() {
    next_visible();
    keep_ = true;
    pass_value();
    keep_ = false;
    if (at_ - begin_ > longest_value) fail(too_long());
    return {buffer_.data() + begin_, at_ - begin_};
}

void JsonPieces::skip() {
    pass_value();
}

void JsonPieces::finish() {
    while (at_ != end_ || more()) {
        if (!is_space(buffer_[at_])) {
            begin_ = at_;
            fail("something follows the JSON");
        }
        ++at_;
    }
}

}  // namespace perfgate::traces
