// SPDX-License-Identifier: Apache-2.0
// Walks maps with the same keys in parallel: looking up each key would cost several times as much.
#pragma once

#include <string_view>

namespace perfgate::model {

/// Advances an iterator over a map to `name`; false if the map does not have it. Call with
/// ascending names.
template <class Iterator>
bool advance_to(std::string_view name, Iterator& place, Iterator end) {
    while (place != end && place->first < name) ++place;
    return place != end && place->first == name;
}

}  // namespace perfgate::model
