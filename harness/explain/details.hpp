// SPDX-License-Identifier: Apache-2.0
// Of what a value consists of in the baseline and in this run (MetricSeries::detail): the parts
// that differ.
#pragma once

#include <string>
#include <string_view>

namespace perfgate::explain {

/// "cudaMalloc 0 → 2, cudaMemcpyAsync 1 → 3" of two lists such as "cudaMemcpyAsync 1" and
/// "cudaMalloc 2, cudaMemcpyAsync 3": the largest changes first. Empty if nothing differs, or if
/// one of the two is no such list. What a shortened list ("… and 3 more") leaves out is not known,
/// and is not reported.
std::string difference_of_details(std::string_view before, std::string_view after);

}  // namespace perfgate::explain
