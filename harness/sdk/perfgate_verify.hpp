// SPDX-License-Identifier: Apache-2.0
// Host buffers, and comparing outputs with what is expected. perfgate.hpp includes this.
//
// `expected` is a function of the index (float64 is best), or a host reference or another variant's
// output: anything with elements, such as a std::vector, HostBuffer or DeviceBuffer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "perfgate_random.hpp"

namespace perfgate::sdk {

struct Verification {
    bool passed = false;
    std::string detail;  ///< what was checked, or what was wrong; at most 511 bytes are kept
};

/// Elements of type T on the host, filled and poisoned as the harness expects it.
template <class T>
class HostBuffer {
    static_assert(std::is_trivially_copyable_v<T>, "elements are copied as bytes");

  public:
    explicit HostBuffer(std::size_t size) : values_(size) {}

    std::size_t size() const { return values_.size(); }
    T* data() { return values_.data(); }
    const T* data() const { return values_.data(); }
    T& operator[](std::size_t i) { return values_[i]; }
    const T& operator[](std::size_t i) const { return values_[i]; }
    void copy_to(T* to, std::size_t first, std::size_t count) const {
        std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(first), count, to);
    }

    /// Random values in [-1, 1), of integers 0 to 99: the same for the same seed and operand, which
    /// numbers the inputs of a case.
    void fill(std::uint64_t seed, std::uint64_t operand = 1) {
        key_ = stream_key(seed, operand);
        for (std::size_t i = 0; i < size(); ++i) values_[i] = filled(i);
    }
    /// Element i as the last fill made it, whatever it is now.
    T filled(std::size_t i) const { return random_element<T>(key_, i); }
    /// All bits set, which is NaN in every floating-point type: what a launch leaves out is found.
    void poison() {
        if (size() > 0) std::memset(static_cast<void*>(data()), 0xff, size() * sizeof(T));
    }

  private:
    std::vector<T> values_;
    std::uint64_t key_ = 0;
};

/// What a comparison allows, and how much of a large output it looks at.
struct Limits {
    double relative = 1e-5;  ///< of the expected value
    double absolute = 0;     ///< in addition
    /// Larger outputs are compared in so many places: at both ends and spread between. Elements
    /// that are NaN are found wherever they are.
    std::size_t most = std::size_t{1} << 20;
    std::uint64_t seed = 0;  ///< which places: the seed of `fill` gives each run its own
};

namespace detail {

template <class T>
double widened(const T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
        return static_cast<double>(value);
    } else {
        return static_cast<double>(static_cast<float>(value));  // __half, __nv_bfloat16
    }
}

template <class Elements>
using ElementOf = std::decay_t<decltype(*std::declval<const Elements&>().data())>;

/// Elements [first, first + count), wherever they are.
template <class Elements>
void copy_elements(const Elements& from, ElementOf<Elements>* to, std::size_t first,
                   std::size_t count) {
    if constexpr (std::is_same_v<Elements, std::vector<ElementOf<Elements>>>) {
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(first), count, to);
    } else {
        from.copy_to(to, first, count);
    }
}

/// A window of elements that are read in chunks: an output on the device need not fit on the host.
template <class Elements>
class Window {
  public:
    using Element = ElementOf<Elements>;

    explicit Window(const Elements& all)
        : all_(all), chunk_(std::min(all.size(), std::size_t{1} << 20)) {}
    double operator[](std::size_t i) {
        if (i < first_ || i >= first_ + count_) {
            first_ = i - i % chunk_.size();
            count_ = std::min(chunk_.size(), all_.size() - first_);
            copy_elements(all_, chunk_.data(), first_, count_);
        }
        return widened(chunk_[i - first_]);
    }

  private:
    const Elements& all_;
    std::vector<Element> chunk_;
    std::size_t first_ = 0, count_ = 0;
};

template <class Expected, class = void>
struct IsFunction : std::false_type {};
template <class Expected>
struct IsFunction<Expected, std::void_t<decltype(std::declval<Expected&>()(std::size_t{}))>>
    : std::true_type {};

/// Whether a comparison looks at element i of n: at both ends, and at one of each stretch between.
class Sample {
  public:
    Sample(std::size_t size, const Limits& limits)
        : size_(size),
          edge_(std::min<std::size_t>(limits.most / 4, 1024)),
          key_(stream_key(limits.seed, 0)) {
        const std::size_t places = std::max<std::size_t>(1, limits.most - 2 * edge_);
        if (size > limits.most) stretch_ = (size + places - 1) / places;
    }
    bool has(std::size_t i) const {
        if (stretch_ == 1 || i < edge_ || i >= size_ - edge_) return true;
        return i % stretch_ == random_bits(key_, i / stretch_) % stretch_;
    }

  private:
    std::size_t size_, edge_, stretch_ = 1;
    std::uint64_t key_;
};

struct Comparison {
    std::size_t compared = 0, wrong = 0, first_wrong = 0;
    double got = 0, expected = 0, allowed = 0;  ///< of the first that is wrong
    double worst_share = 0;                     ///< largest error over what is allowed
    double squared_error = 0, squared_reference = 0;

    void element(std::size_t i, double value, double reference, const Limits& limits) {
        ++compared;
        const double may = limits.absolute + limits.relative * std::abs(reference);
        const double error = value == reference ? 0 : std::abs(value - reference);
        squared_error += error * error;
        squared_reference += reference * reference;
        // Written so that a NaN fails: no comparison with it is true. Infinity equals itself alone.
        if (error == 0 || (error <= may && std::isfinite(error))) {
            if (may > 0) worst_share = std::max(worst_share, error / may);
        } else if (wrong++ == 0) {
            first_wrong = i;
            got = value;
            expected = reference;
            allowed = may;
        }
    }
    double relative_error() const {
        if (!std::isfinite(squared_reference)) return std::numeric_limits<double>::infinity();
        if (squared_reference > 0) return std::sqrt(squared_error / squared_reference);
        return squared_error == 0 ? 0 : std::numeric_limits<double>::infinity();
    }
};

template <class... Values>
std::string text(const char* format, Values... values) {
    char line[400];
    std::snprintf(line, sizeof line, format, values...);
    return line;
}

/// Calls visit(i, value, expected) for what is compared; of other elements only for NaN.
template <class Output, class Expected, class Visit>
void each_compared(const Output& output, Expected& expected, const Limits& limits, Visit visit) {
    const Sample sample(output.size(), limits);
    Window<Output> values(output);
    const auto over = [&](auto&& reference) {
        for (std::size_t i = 0; i < output.size(); ++i) {
            const double value = values[i];
            if (sample.has(i) || std::isnan(value)) visit(i, value, reference(i));
        }
    };
    if constexpr (IsFunction<Expected>::value) {
        over([&](std::size_t i) { return static_cast<double>(expected(i)); });
    } else {
        Window<std::remove_const_t<Expected>> references(expected);
        over([&](std::size_t i) { return references[i]; });
    }
}

/// Why the two cannot be compared; empty: they can.
template <class Output, class Expected>
std::string mismatch(const Output& output, const Expected& expected, const Limits& limits) {
    if (output.size() == 0) return "the output has no elements: nothing was compared";
    if (limits.most == 0) return "Limits::most is 0: nothing would be compared";
    if constexpr (!IsFunction<const Expected>::value && !IsFunction<Expected>::value) {
        if (expected.size() != output.size()) {
            return "the output has " + std::to_string(output.size()) + " elements, the reference " +
                   std::to_string(expected.size());
        }
    }
    return {};
}

inline std::string counted(std::size_t compared, std::size_t size) {
    if (compared != size) {
        return std::to_string(compared) + " of " + std::to_string(size) + " elements compared";
    }
    return size == 1 ? "1 element compared" : "all " + std::to_string(size) + " elements compared";
}

template <class Output, class Expected>
Comparison compared(const Output& output, Expected& expected, const Limits& limits) {
    Comparison result;
    each_compared(output, expected, limits, [&](std::size_t i, double value, double reference) {
        result.element(i, value, reference, limits);
    });
    return result;
}

}  // namespace detail

/// Each element is within its own tolerance: |value - expected| <= absolute + relative *
/// |expected|.
template <class Output, class Expected>
Verification elementwise(const Output& output, Expected&& expected, const Limits& limits = {}) {
    const std::string why = detail::mismatch(output, expected, limits);
    if (!why.empty()) return {false, why};
    const detail::Comparison result = detail::compared(output, expected, limits);
    const std::string counted = detail::counted(result.compared, output.size());
    if (result.wrong == 0) {
        return {true, counted + detail::text(", largest error %.2g of its tolerance",
                                             result.worst_share)};
    }
    return {false, detail::text("element %zu is %.9g, expected %.9g within %.2g; %zu wrong, ",
                                result.first_wrong, result.got, result.expected, result.allowed,
                                result.wrong) +
                       counted};
}

/// The error of the whole output relative to the expected one (Euclidean norms) is at most
/// `limits.relative`: for sums in which single elements cancel. `absolute` is not used.
template <class Output, class Expected>
Verification relative_error(const Output& output, Expected&& expected, const Limits& limits = {}) {
    const std::string why = detail::mismatch(output, expected, limits);
    if (!why.empty()) return {false, why};
    const detail::Comparison result = detail::compared(output, expected, limits);
    const double error = result.relative_error();
    return {error <= limits.relative,
            detail::counted(result.compared, output.size()) +
                detail::text(", relative error %.2g, allowed %.2g", error, limits.relative)};
}

}  // namespace perfgate::sdk
