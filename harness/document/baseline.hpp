// SPDX-License-Identifier: Apache-2.0
// The Baseline as a document.
#pragma once

#include <string>
#include <string_view>

#include "model/baseline.hpp"

namespace perfgate::document {

/// JSON, schema "perfgate.baseline" version 3 (1 and 2 are read): sorted, one line per metric, the
/// same bytes for the same content. A metric whose batches hold one value each, as a refresh makes
/// them, is written as the list of these values, or as a count where all are equal:
///
///   "gpu_time": {"unit":"ns","value":8512,"method":"activity/cold","device":"b888","seed":1,
///                "runs":[5,5],"processes":[8511.2,8520.5,…],"sm_clock_mhz":[1980,1980,…]}
///   "registers": {"unit":"registers","value":64,"method":"kernel-record","device":"b888",
///                 "seed":1,"repeated":10}
///
/// `runs` is how many of the processes each run had; absent: one run. Consecutive kernels that
/// are equal are one with a "count". `tags`, `measured_as`, `kernels`, `host_code`,
/// `libraries` and `memory_operations` of a case are absent in files from before them.
///
/// Where accepted changes or acknowledgements made some, a case has these beside its metrics:
///
///   "anchors": {"gpu_time":8200}
///   "acknowledged": {
///     "gpu_time": {"until":"2026-12-31","by":"Ada","reason":"…","known":{…}}
///   }
std::string write_baseline(const model::Baseline& baseline);
/// Whether these are the bytes of this baseline, in this version or as the one before wrote it.
bool is_as_written(std::string_view text, const model::Baseline& baseline);
/// What the ledger keeps of a case to tell whether it was edited since: the SHA-256, of which the
/// first 128 bits are written, of the case's canonical form. That is its member of "cases" as
/// write_baseline() writes it, id and object, on one line without any space between tokens:
///
///   "gemm/tiled[m=64]":{"provenance":{"board":"b888",…},"metrics":{"gpu_time":{"unit":"ns",…
///
/// A field that is written only where it says something may be added without a change to the
/// digests of cases that do not have it. What changes the text of existing cases makes their
/// digests others, and so raises the ledger's version.
std::string digest_of_case(std::string_view id, const model::BaselineCase& expected);
/// `older`, if given: whether it is of an older version than write_baseline() writes.
model::Baseline parse_baseline(std::string json, std::string_view source, bool* older = nullptr);

// The ledger of a baseline as a document.

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
