// SPDX-License-Identifier: Apache-2.0
// Reading any text by a regular expression, for the formats that are text. One match takes time in
// proportion to the text, whatever the expression; many that look at all of it take more.
#pragma once

#include <string_view>

#include "kinds/benchmark/formats/layout.hpp"
#include "kinds/benchmark/formats/results.hpp"
#include "kinds/benchmark/formats/table.hpp"

namespace perfgate::benchmark {

/// Throws util::InputError for a pattern (`rows`) that is none, and for a place that is no group of
/// it.
void check_pattern(const Layout& reading);

/// `^` and `$` are the ends of lines. Groups that the layout does not name are parameters; the
/// group "case" is the name. None if nothing matches.
Results read_matches(std::string_view text, const Layout& reading,
                     const KnownRows* known = nullptr);

}  // namespace perfgate::benchmark
