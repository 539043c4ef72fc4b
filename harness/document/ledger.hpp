// SPDX-License-Identifier: Apache-2.0
// The ledger of a baseline as a document.
#pragma once

#include <string>
#include <string_view>

#include "model/ledger.hpp"

namespace perfgate::document {

/// JSON lines: a head (schema "perfgate.ledger" version 2; 1 is read), then a line for each entry,
/// sorted by case and time. Lines are only added, so that a union of two branches' is a ledger.
///
///   {"schema":"perfgate.ledger","version":2,"suite":"gemm","device":"nvidia-h100-80gb-hbm3"}
///   {"case":"gemm/tiled[m=64]","at":"…","action":"accept","by":"Ada","reason":"…",…,
///    "changes":{"gpu_time":{"unit":"ns","before":8200,"after":8512,"anchor":8200}},
///    "digests":{"gemm/tiled[m=64]":"4b3d…"}}
std::string write_ledger(model::Ledger ledger);

/// Takes entries in any order: a merge may have put them so, and left the heads of both sides.
/// `source` names the document in messages, with the line.
model::Ledger parse_ledger(std::string_view text, std::string_view source);

}  // namespace perfgate::document
