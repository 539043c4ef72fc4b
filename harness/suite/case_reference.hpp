// SPDX-License-Identifier: Apache-2.0
// Reads what an expression says about a case, "transpose/naive[dtype=f32]@hot.gpu_time", and checks
// its names: workload, variant, parameters, metric.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/case.hpp"
#include "model/catalogue.hpp"
#include "model/metric.hpp"
#include "suite/placed_text.hpp"
#include "suite/settings.hpp"

namespace perfgate::suite {

/// A workload with the variants of it that the suite has.
struct KnownWorkload {
    const model::WorkloadInfo* info = nullptr;
    std::vector<const model::VariantInfo*> variants;
    /// If its cases are discovered: the metrics that they report. Null: the suite lists them.
    const Settings* discovering = nullptr;
    bool open = false;                     ///< not all of them are known: any name may be one
    std::vector<std::string> listed = {};  ///< variants that the suite lists all the same
};

/// What is before the dot, once for all places with the same text.
struct Operand {
    /// A metric of it that the relation uses, and where.
    struct Use {
        std::string metric;
        Position at;
    };

    std::string text;  ///< "transpose/naive[dtype=f32]@hot"
    Position at;
    const KnownWorkload* known = nullptr;         ///< null: no workload has this name
    const model::VariantInfo* variant = nullptr;  ///< null: not a known one of an open workload
    std::string variant_name;
    bool is_listed = false;  ///< in `known->listed`
    model::Params fixed;     ///< of discovered cases: as text; of open ones: not checked
    std::optional<model::Cache> cache;
    std::vector<Use> uses;

    /// The metrics that discovered cases report; null for other cases.
    [[nodiscard]] const Settings* reported() const {
        return known == nullptr || is_listed ? nullptr : known->discovering;
    }
    /// It may stand for cases that are not known.
    [[nodiscard]] bool is_open() const { return reported() != nullptr && known->open; }
};

/// Whether a name is next, known or not.
bool begins_reference(const Cursor& cursor, const std::vector<KnownWorkload>& workloads);

/// Up to the dot. The operand points into `workloads`. Unknown names are problems; throws
/// SyntaxError.
Operand read_reference(Cursor& cursor, const std::vector<KnownWorkload>& workloads,
                       Problems& problems);

/// The dot and the name behind it. Throws SyntaxError if there is no dot.
Operand::Use read_metric(Cursor& cursor, const Operand& operand);

/// Nothing, and a problem, if there is no such metric, or the benchmark does not report it.
std::optional<model::MetricDefinition> definition_of(const Operand& operand,
                                                     const Operand::Use& use, Problems& problems);

}  // namespace perfgate::suite
