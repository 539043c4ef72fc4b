// SPDX-License-Identifier: Apache-2.0
// IEEE binary16 and bfloat16 on the host, where the compiler may have neither.
#pragma once

#include <cstdint>

namespace perfgate::backend {

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

}  // namespace perfgate::backend
