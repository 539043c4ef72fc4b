// SPDX-License-Identifier: Apache-2.0
// What depends on CUPTI's version, here and in a program: which versions can be used, and how to
// subscribe.
#pragma once

#include <cstdint>
#include <string_view>

namespace perfgate::backend::cuda {

/// 13.0 before update 1 deadlocks, and older versions have a different record layout.
inline constexpr std::uint32_t required_cupti_version = 130001;

/// CUPTI 13.3, and 13.2 in part, has a second set of functions ("V2", with a subscriber as
/// argument), must not be called with both, and wants a subscriber first (its documentation, "CUPTI
/// multiple subscribers"). We then use the first set alone, whose records have the layout that we
/// know. It does not name who else has subscribed, so that below this version we subscribe with
/// cuptiSubscribe_v2, which does.
constexpr bool has_two_sets_of_functions(std::uint32_t cupti_version) {
    return cupti_version >= 130200;
}

/// What CUPTI writes in place of the holder's name if that gave none, as compute-sanitizer does.
inline constexpr std::string_view unnamed_holder = "<not provided>";

}  // namespace perfgate::backend::cuda
