// SPDX-License-Identifier: Apache-2.0
#include "kinds/source/values/elements.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "perfgate_random.hpp"
#include "perfgate_verify.hpp"

namespace perfgate::backend {

namespace {

using model::ElementType;
using Fill = model::SourceArgument::Fill;

/// The host's types of the elements, in the order of ElementType.
using HostTypes =
    std::tuple<Half, Bfloat16, float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
               std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
constexpr std::size_t last_type = std::tuple_size_v<HostTypes> - 1;
static_assert(last_type == static_cast<std::size_t>(ElementType::u64));

/// Calls work(T()) with the host's type of the elements.
template <std::size_t index = 0, class Work>
auto with_type(ElementType type, const Work& work) {
    if constexpr (index < last_type) {
        if (static_cast<std::size_t>(type) != index) return with_type<index + 1>(type, work);
    }
    return work(std::tuple_element_t<index, HostTypes>());
}

/// The integers from 0 that the type holds exactly.
template <class T>
constexpr std::uint64_t exact_integers() {
    if constexpr (std::is_same_v<T, Half>) {
        return 1 << 11;
    } else if constexpr (std::is_same_v<T, Bfloat16>) {
        return 1 << 8;
    } else {
        constexpr int digits = std::numeric_limits<T>::digits;
        return digits >= 63 ? std::uint64_t{1} << 63 : std::uint64_t{1} << digits;
    }
}

template <class T>
T element(const model::SourceArgument& argument, std::uint64_t key, std::uint64_t index) {
    switch (argument.fill) {
        case Fill::uniform:
            return sdk::random_element<T>(key, index);
        case Fill::iota:
            index %= exact_integers<T>();
            if constexpr (std::is_integral_v<T>) return static_cast<T>(index);
            return static_cast<T>(static_cast<double>(index));
        case Fill::constant:
            break;
    }
    if constexpr (std::is_integral_v<T>) return static_cast<T>(argument.integer);
    return static_cast<T>(argument.real);
}

template <class T>
void put(Bytes& bytes, std::size_t index, T value) {
    std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof(T));
}

/// Typed elements in bytes, as sdk::elementwise reads them.
template <class T>
class View {
  public:
    explicit View(const Elements& elements) : elements_(elements) {}
    std::size_t size() const { return elements_.count(); }
    const T* data() const { return nullptr; }  // its type is what counts
    void copy_to(T* to, std::size_t first, std::size_t count) const {
        std::memcpy(static_cast<void*>(to), elements_.bytes.data() + first * sizeof(T),
                    count * sizeof(T));
    }
    T operator[](std::size_t index) const {
        T value;
        copy_to(&value, index, 1);
        return value;
    }

  private:
    const Elements& elements_;
};

template <class T, class Other>
model::Verification compare_integers(const Elements& output, const Elements& expected) {
    const View<T> values(output);
    const View<Other> wanted(expected);
    std::size_t wrong = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::cmp_equal(values[i], wanted[i])) continue;
        if (wrong++ == 0) first = i;
    }
    if (wrong == 0) return {true, 0, fmt::format("all {} elements are equal", values.size())};
    return {false, 0,
            fmt::format("element {} is {}, expected {}; {} of {} wrong", first, +values[first],
                        +wanted[first], wrong, values.size())};
}

}  // namespace

Bytes content_of(const model::SourceArgument& argument, std::uint64_t seed, std::uint64_t operand) {
    const auto count = static_cast<std::size_t>(argument.elements);
    const std::uint64_t key = sdk::stream_key(seed, operand);
    return with_type(argument.type, [&](auto zero) {
        using T = decltype(zero);
        Bytes bytes(count * sizeof(T));
        for (std::size_t i = 0; i < count; ++i) put(bytes, i, element<T>(argument, key, i));
        return bytes;
    });
}

Bytes value_of(const model::SourceArgument& argument) {
    model::SourceArgument constant = argument;
    constant.fill = Fill::constant;
    constant.elements = 1;
    return content_of(constant, 0, 0);
}

model::Verification compare(const Elements& output, const Elements& expected,
                            const model::SourceCheck& check, std::uint64_t seed, std::size_t most) {
    if (output.count() != expected.count()) {
        return {false, 0,
                fmt::format("the output has {} elements, what is expected {}", output.count(),
                            expected.count())};
    }
    return with_type(output.type, [&](auto zero) {
        using T = decltype(zero);
        return with_type(expected.type, [&](auto other) -> model::Verification {
            using Other = decltype(other);
            if constexpr (std::is_integral_v<T> && std::is_integral_v<Other>) {
                return compare_integers<T, Other>(output, expected);
            } else if constexpr (std::is_integral_v<T>) {
                return {false, 0,
                        "the output has integers, what is expected is floating-point: save "
                        "integers"};
            } else {
                const sdk::Limits limits{check.rtol, check.atol, most, seed};
                const View<T> values(output);
                const View<Other> wanted(expected);
                const sdk::Verification found = sdk::elementwise(values, wanted, limits);
                return {found.passed, 0, found.detail};
            }
        });
    });
}

Half::Half(float value) {
    const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
    const float magnitude = std::fabs(value);
    std::uint16_t bits = 0;
    if (std::isnan(value)) {
        bits = 0x7e00;
    } else if (magnitude >= 65520) {  // halfway to 2^16, the first that does not fit
        bits = 0x7c00;
    } else if (magnitude < 0x1p-14F) {
        // Subnormal: multiples of 2^-24. nearbyint rounds ties to even.
        bits = static_cast<std::uint16_t>(std::nearbyint(magnitude * 0x1p24F));
    } else {
        int exponent = 0;
        const float fraction = std::frexp(magnitude, &exponent);  // [0.5, 1)
        // A carry out of the mantissa goes into the exponent, as it should.
        const auto mantissa = static_cast<int>(std::nearbyint(fraction * 0x1p11F)) - 1024;
        bits = static_cast<std::uint16_t>(((exponent + 14) << 10) + mantissa);
    }
    bits_ = static_cast<std::uint16_t>(sign | bits);
}

Half::operator float() const {
    const int exponent = (bits_ >> 10) & 31;
    const int mantissa = bits_ & 1023;
    float magnitude = 0;
    if (exponent == 31) {
        magnitude = mantissa == 0 ? std::numeric_limits<float>::infinity()
                                  : std::numeric_limits<float>::quiet_NaN();
    } else if (exponent == 0) {
        magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    } else {
        magnitude = std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
    }
    return (bits_ & 0x8000) != 0 ? -magnitude : magnitude;
}

Bfloat16::Bfloat16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value)) {
        bits_ = static_cast<std::uint16_t>((bits >> 16) | 0x40);
        return;
    }
    const std::uint32_t tie = (bits >> 16) & 1;
    bits_ = static_cast<std::uint16_t>((bits + 0x7fff + tie) >> 16);
}

Bfloat16::operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16);
}

}  // namespace perfgate::backend
