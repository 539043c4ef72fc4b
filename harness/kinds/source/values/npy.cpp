// SPDX-License-Identifier: Apache-2.0
#include "kinds/source/values/elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::backend {

namespace {

using model::ElementType;

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t most_header_bytes = std::size_t{64} << 10;
constexpr std::size_t most_dimensions = 32;

struct KnownType {
    std::string_view descr;
    ElementType type;
};
constexpr std::array known_types{
    KnownType{"<f2", ElementType::f16}, KnownType{"<f4", ElementType::f32},
    KnownType{"<f8", ElementType::f64}, KnownType{"|i1", ElementType::i8},
    KnownType{"<i2", ElementType::i16}, KnownType{"<i4", ElementType::i32},
    KnownType{"<i8", ElementType::i64}, KnownType{"|u1", ElementType::u8},
    KnownType{"<u2", ElementType::u16}, KnownType{"<u4", ElementType::u32},
    KnownType{"<u8", ElementType::u64}};

/// The header is a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
/// Reads that form and nothing else.
class HeaderReader {
  public:
    explicit HeaderReader(std::string_view text) : text_(text) {}

    struct Header {
        std::string descr;
        bool fortran_order = false;
        std::size_t elements = 1;
        bool too_many = false;
    };

    /// Nothing: it is not of that form.
    std::optional<Header> read() {
        if (!take('{')) return std::nullopt;
        bool has_descr = false;
        bool has_order = false;
        bool has_shape = false;
        while (!take('}')) {
            const std::optional<std::string> key = string();
            if (!key || !take(':')) return std::nullopt;
            bool good = false;
            if (*key == "descr" && !has_descr) {
                const std::optional<std::string> descr = string();
                good = has_descr = descr.has_value();
                header_.descr = descr.value_or("");
            } else if (*key == "fortran_order" && !has_order) {
                good = has_order = boolean(header_.fortran_order);
            } else if (*key == "shape" && !has_shape) {
                good = has_shape = shape();
            }
            if (!good) return std::nullopt;
            if (!take(',') && !next_is('}')) return std::nullopt;
        }
        skip_spaces();
        if (at_ != text_.size() || !has_descr || !has_order || !has_shape) return std::nullopt;
        return header_;
    }

  private:
    void skip_spaces() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    }
    bool next_is(char c) {
        skip_spaces();
        return at_ < text_.size() && text_[at_] == c;
    }
    bool take(char c) {
        if (!next_is(c)) return false;
        ++at_;
        return true;
    }

    std::optional<std::string> string() {
        if (!take('\'')) return std::nullopt;
        const std::size_t end = text_.find('\'', at_);
        if (end == std::string_view::npos) return std::nullopt;
        std::string found(text_.substr(at_, end - at_));
        at_ = end + 1;
        return found;
    }

    bool boolean(bool& out) {
        skip_spaces();
        for (const std::string_view word : {"True", "False"}) {
            if (!text_.substr(at_).starts_with(word)) continue;
            at_ += word.size();
            out = word == "True";
            return true;
        }
        return false;
    }

    bool shape() {
        if (!take('(')) return false;
        for (std::size_t dimensions = 0; !take(')'); ++dimensions) {
            if (dimensions == most_dimensions) return false;
            skip_spaces();
            std::size_t size = 0;
            const auto [end, error] =
                std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
            if (error != std::errc{}) return false;
            at_ = static_cast<std::size_t>(end - text_.data());
            header_.too_many = __builtin_mul_overflow(header_.elements, size, &header_.elements) ||
                               header_.too_many;
            if (!take(',') && !next_is(')')) return false;
        }
        return true;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    Header header_;
};

std::size_t little_endian(std::string_view bytes) {
    std::size_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;) {
        value = value << 8 | static_cast<unsigned char>(bytes[i]);
    }
    return value;
}

}  // namespace

Elements read_npy(const std::filesystem::path& file, std::size_t count) {
    const auto refuse = [&](const std::string& why) {
        throw util::InputError("{}: {}", util::printable(file.string()), why);
    };
    // Elements have at most 8 bytes, so a larger file cannot be right.
    const std::size_t most = count * 8 + most_header_bytes + 16;
    const std::string content = util::read_file(file, most, "array");
    const std::string_view text = content;
    if (!text.starts_with(magic) || text.size() < 10) {
        refuse("not a .npy file; expected one that numpy.save has written");
    }
    const auto version = static_cast<unsigned char>(text[6]);
    if (version < 1 || version > 3) {
        refuse(fmt::format("version {} of the .npy format; expected 1 to 3", version));
    }
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    const std::size_t header_at = 8 + length_bytes;
    if (text.size() < header_at) refuse("the file ends within its header; save it again");
    const std::size_t length = little_endian(text.substr(8, length_bytes));
    if (length > most_header_bytes || length > text.size() - header_at) {
        refuse("the file ends within its header, or the header is too long; save it again");
    }
    const auto header = HeaderReader(text.substr(header_at, length)).read();
    if (!header) refuse("its header is malformed; expected one that numpy.save has written");
    const auto* type = std::ranges::find_if(
        known_types, [&](const auto& each) { return each.descr == header->descr; });
    if (type == known_types.end()) {
        refuse(
            fmt::format("elements of type '{}'; expected integers or floating-point numbers in "
                        "little-endian order",
                        util::printable(header->descr, 40)));
    }
    if (header->fortran_order) {
        refuse("an array in Fortran order; save numpy.ascontiguousarray of it");
    }
    if (header->too_many || header->elements != count) {
        refuse(fmt::format("an array of {} elements; the output has {}",
                           header->too_many ? "too many" : std::to_string(header->elements),
                           count));
    }
    const std::string_view data = text.substr(header_at + length);
    if (data.size() != count * static_cast<std::size_t>(bytes_of(type->type))) {
        refuse(fmt::format("{} bytes of elements; its header says {}", data.size(),
                           count * static_cast<std::size_t>(bytes_of(type->type))));
    }
    const auto bytes = std::as_bytes(std::span(data));
    return {type->type, Bytes(bytes.begin(), bytes.end())};
}

}  // namespace perfgate::backend
