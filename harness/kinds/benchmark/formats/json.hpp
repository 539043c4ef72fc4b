// SPDX-License-Identifier: Apache-2.0
// Reading any JSON by paths, for the formats that are it.
#pragma once

#include "document/json_reader.hpp"
#include "kinds/benchmark/formats/layout.hpp"
#include "kinds/benchmark/formats/results.hpp"
#include "kinds/benchmark/formats/table.hpp"

namespace perfgate::benchmark {

/// `rows` of the layout lead to the rows, all other paths begin there; a place that does not begin
/// with '/' is a member of the row. Throws
/// util::InputError, which begins with the document's source or with the row's path.
Results read_rows_of_json(const document::JsonDocument& document, const Layout& reading,
                          const KnownRows* known = nullptr);

}  // namespace perfgate::benchmark
