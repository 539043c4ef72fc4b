// SPDX-License-Identifier: Apache-2.0
// The exceptions that reach a user. Each message is one line that names the place and the remedy.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace perfgate::util {

/// Something went wrong while measuring or writing: exit code 3.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
    /// With what fmt::format makes of the arguments.
    template <class First, class... Rest>
    Error(fmt::format_string<First, Rest...> text, First&& first, Rest&&... rest)
        : Error(fmt::format(text, std::forward<First>(first), std::forward<Rest>(rest)...)) {}
};

/// Usage, or a file from outside that cannot be accepted: exit code 2, nothing was measured.
class InputError : public Error {
  public:
    using Error::Error;
};

}  // namespace perfgate::util
