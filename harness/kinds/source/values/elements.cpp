// SPDX-License-Identifier: Apache-2.0
#include "kinds/source/values/elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
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

/// What is not random.
template <class T>
T element(const model::SourceArgument& argument, std::uint64_t index) {
    if (argument.fill == Fill::iota) {
        index %= exact_integers<T>();
        if constexpr (std::is_integral_v<T>) return static_cast<T>(index);
        return static_cast<T>(static_cast<double>(index));
    }
    if constexpr (std::is_integral_v<T>) return static_cast<T>(argument.integer);
    return static_cast<T>(argument.real);
}

template <class T>
void put(std::span<std::byte> bytes, std::size_t index, T value) {
    std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof(T));
}

/// Typed elements, as sdk::elementwise reads them.
template <class T>
class View {
  public:
    explicit View(const Content& content) : content_(content) {}
    std::size_t size() const { return content_.count; }
    const T* data() const { return nullptr; }  // its type is what counts
    void copy_to(T* to, std::size_t first, std::size_t count) const {
        content_.copy(static_cast<std::byte*>(static_cast<void*>(to)), first * sizeof(T),
                      count * sizeof(T));
    }

  private:
    const Content& content_;
};

template <class T, class Other>
model::Verification compare_integers(const Content& output, const Content& expected) {
    const std::size_t at_once = std::min(output.count, std::size_t{1} << 20);
    std::vector<T> values(at_once);
    std::vector<Other> wanted(at_once);
    std::size_t wrong = 0;
    std::string first;
    for (std::size_t begin = 0; begin < output.count; begin += at_once) {
        const std::size_t count = std::min(at_once, output.count - begin);
        View<T>(output).copy_to(values.data(), begin, count);
        View<Other>(expected).copy_to(wanted.data(), begin, count);
        for (std::size_t i = 0; i < count; ++i) {
            if (std::cmp_equal(values[i], wanted[i])) continue;
            if (wrong++ == 0) {
                first =
                    fmt::format("element {} is {}, expected {}", begin + i, +values[i], +wanted[i]);
            }
        }
    }
    if (wrong == 0) return {true, 0, fmt::format("all {} elements are equal", output.count)};
    return {false, 0, fmt::format("{}; {} of {} wrong", first, wrong, output.count)};
}

}  // namespace

Bytes content_of(const model::SourceArgument& argument, std::uint64_t seed, std::uint64_t operand) {
    const auto count = static_cast<std::size_t>(argument.elements);
    Bytes bytes(count * static_cast<std::size_t>(model::bytes_of(argument.type)));
    if (argument.fill == Fill::uniform) {
        fill_uniform(argument.type, sdk::stream_key(seed, operand), 0, bytes);
        return bytes;
    }
    with_type(argument.type, [&](auto zero) {
        for (std::size_t i = 0; i < count; ++i) put(bytes, i, element<decltype(zero)>(argument, i));
    });
    return bytes;
}

void fill_uniform(ElementType type, std::uint64_t key, std::uint64_t first,
                  std::span<std::byte> to) {
    with_type(type, [&](auto zero) {
        using T = decltype(zero);
        const std::size_t count = to.size() / sizeof(T);
        const auto fill = [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                put(to, i, sdk::random_element<T>(key, first + i));
            }
        };
        constexpr std::size_t for_one_thread = 1 << 18;
        const std::size_t threads = std::clamp<std::size_t>(
            count / for_one_thread, 1, std::min(std::thread::hardware_concurrency(), 8U));
        const std::size_t part = (count + threads - 1) / threads;
        std::vector<std::jthread> others;
        for (std::size_t n = 1; n < threads; ++n) {
            others.emplace_back(fill, n * part, std::min(count, (n + 1) * part));
        }
        fill(0, part);
    });
}

Bytes value_of(const model::SourceArgument& argument) {
    model::SourceArgument constant = argument;
    constant.fill = Fill::constant;
    constant.elements = 1;
    return content_of(constant, 0, 0);
}

Content Elements::content() const {
    return {type, count(), [this](std::byte* to, std::size_t first, std::size_t size) {
                std::memcpy(to, bytes.data() + first, size);
            }};
}

model::Verification compare(const Elements& output, const Elements& expected,
                            const model::SourceCheck& check, std::uint64_t seed) {
    return compare(output.content(), expected.content(), check, seed);
}

model::Verification compare(const Content& output, const Content& expected,
                            const model::SourceCheck& check, std::uint64_t seed, std::size_t most) {
    if (output.count != expected.count) {
        return {false, 0,
                fmt::format("the output has {} elements, what is expected {}", output.count,
                            expected.count)};
    }
    if (output.count == 0) {
        return {false, 0, "the output has no elements: nothing was compared"};
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

}  // namespace perfgate::backend
