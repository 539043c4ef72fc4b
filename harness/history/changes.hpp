// SPDX-License-Identifier: Apache-2.0
// Says what changed over the nights, and names the class of its cause by the evidence. Pure and
// deterministic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "history/night.hpp"

namespace perfgate::history {

/// Classes of causes. The first that applies is named.
enum class CauseClass { method, inputs, code, driver, machine, unexplained };

std::string_view to_text(CauseClass cause);

struct ChangePoint {
    std::size_t series = 0;        ///< of those that were given
    std::size_t night = 0;         ///< the first that is different
    std::int64_t run = 0;          ///< of that night
    double before = 0, after = 0;  ///< means of the nights on both sides, in the series' unit
    double change = 0;             ///< (after - before) / |before|; 0 if `before` is 0
    bool worse = false;            ///< by the metric's direction
    bool open = false;             ///< the last change of its series
    CauseClass cause = CauseClass::unexplained;
    std::string evidence = {};  ///< a sentence

    bool operator==(const ChangePoint&) const = default;
};

/// Points of one device, run and cause: one change that several series show.
struct Finding {
    std::string device;
    std::int64_t run = 0;
    CauseClass cause = CauseClass::unexplained;
    std::string evidence;
    std::vector<ChangePoint> points;  ///< the largest first, worse before better
    bool worse = false;               ///< at least one of them
    bool open = false;                ///< at least one of them

    bool operator==(const Finding&) const = default;
};

/// Finds the changes of series that are added one by one, and groups them. The series of one case
/// and device follow each other.
class Changes {
  public:
    /// Keeps a reference.
    explicit Changes(const std::map<std::int64_t, Origin>& origins) : origins_(origins) {}

    /// Returns the nights at which it changed.
    std::vector<std::size_t> add(const Series& series);
    /// With causes; in the order of series and nights.
    std::vector<ChangePoint> points() const;
    /// Sorted by device; then open ones first, worse before better, by the largest change.
    std::vector<Finding> findings() const;

  private:
    struct Seen {
        std::string device;
        bool code_known = false;
    };
    struct Cases {
        std::size_t count = 0, last = 0;  ///< the number of the last one
    };
    using Place = std::pair<std::string, std::int64_t>;  ///< device and run

    const std::map<std::int64_t, Origin>& origins_;
    std::vector<ChangePoint> points_;  ///< without evidence where the series alone has none
    std::vector<Seen> seen_;           ///< of each point
    std::tuple<std::string, std::string, std::string> last_case_;
    std::size_t series_ = 0, cases_ = 0;
    std::map<Place, Cases> measured_;
    std::map<Place, Cases> moved_;  ///< those that changed without a cause
};

}  // namespace perfgate::history
