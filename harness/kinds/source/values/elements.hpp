// SPDX-License-Identifier: Apache-2.0
// The elements of a source's buffers on the host: what inputs are filled with, and whether outputs
// are as expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "model/run.hpp"
#include "model/source_kernel.hpp"

namespace perfgate::backend {

using Bytes = std::vector<std::byte>;

/// The content of an `in` or `inout` for a seed; `operand` numbers the arguments from 1, so that
/// each has other values.
Bytes content_of(const model::SourceArgument& argument, std::uint64_t seed, std::uint64_t operand);

/// Elements `first` on of the uniform values of a key (sdk::random_element), as many as fit.
void fill_uniform(model::ElementType type, std::uint64_t key, std::uint64_t first,
                  std::span<std::byte> to);

/// A value as the kernel takes it.
Bytes value_of(const model::SourceArgument& argument);

/// Elements of one type that are read in chunks, wherever they are.
struct Content {
    model::ElementType type = model::ElementType::f32;
    std::size_t count = 0;
    /// Copies bytes [first, first + size).
    std::function<void(std::byte* to, std::size_t first, std::size_t size)> copy;
};

/// Elements of one type on the host.
struct Elements {
    model::ElementType type = model::ElementType::f32;
    Bytes bytes;

    std::size_t count() const { return bytes.size() / static_cast<std::size_t>(bytes_of(type)); }
    Content content() const;
};

/// Whether the output is as expected, of which the type may be another: floating-point elements
/// within the tolerances of `check`, integers exactly. `seed` chooses the elements of a large
/// floating-point output that are compared, at most `most`.
model::Verification compare(const Content& output, const Content& expected,
                            const model::SourceCheck& check, std::uint64_t seed,
                            std::size_t most = std::size_t{1} << 20);
model::Verification compare(const Elements& output, const Elements& expected,
                            const model::SourceCheck& check, std::uint64_t seed);

// IEEE binary16 and bfloat16 on the host, where the compiler may have neither.

/// Rounds to nearest, ties to even; what is too large becomes infinite.
class Half {
  public:
    Half() = default;
    explicit Half(float value);
    explicit Half(double value) : Half(static_cast<float>(value)) {}
    explicit operator float() const;

  private:
    std::uint16_t bits_ = 0;
};

class Bfloat16 {
  public:
    Bfloat16() = default;
    explicit Bfloat16(float value);
    explicit Bfloat16(double value) : Bfloat16(static_cast<float>(value)) {}
    explicit operator float() const;

  private:
    std::uint16_t bits_ = 0;
};

static_assert(sizeof(Half) == 2 && sizeof(Bfloat16) == 2);

/// Reads an array that NumPy has saved (.npy, format versions 1 to 3), as untrusted input.
/// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
/// Little-endian numbers (float16 to float64, integers of 8 to 64 bits) in C order, of any shape.
/// Throws util::InputError naming the file and the remedy for anything else, and for a file whose
/// array has not `count` elements.
Elements read_npy(const std::filesystem::path& file, std::size_t count);

}  // namespace perfgate::backend
