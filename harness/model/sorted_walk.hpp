// SPDX-License-Identifier: Apache-2.0
// Maps of the same keys walked side by side: a look-up for each key costs several times as much.
#pragma once

#include <string_view>

namespace perfgate::model {

/// Moves an iterator over a map to `name`, past what comes before it; false: it is not there. Names
/// come in order.
template <class Iterator>
bool advance_to(std::string_view name, Iterator& place, Iterator end) {
    while (place != end && place->first < name) ++place;
    return place != end && place->first == name;
}

}  // namespace perfgate::model
