// SPDX-License-Identifier: Apache-2.0
// How far a gated metric may move. Written in suites, carried by the Run, applied by the gate.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace perfgate::model {

/// What follows if a gated metric is worse than its tolerance: the run fails, or it only says so.
enum class Severity { fail, warn };

std::string_view to_text(Severity severity);

/// `worse` and `better` are fractions of the baseline (0.03 is 3 %); `abs` is in the metric's unit.
/// A change counts only if it exceeds both the fraction and `abs`. Without `better`, an improvement
/// beyond `worse` is reported as improved.
struct Tolerance {
    double worse = 0;
    std::optional<double> better;
    double abs = 0;
    /// Nothing: what the policy says of the metric's class.
    std::optional<Severity> severity = std::nullopt;
    /// How much worse the slowest tenth of a time's samples may be; nothing: twice `worse`.
    std::optional<double> tail = std::nullopt;

    bool operator==(const Tolerance&) const = default;
};

/// "3 %" or "worse 2 %, better 10 %, at least 500 ns". Without its severity.
std::string to_text(const Tolerance& tolerance, const std::string& unit);

}  // namespace perfgate::model
