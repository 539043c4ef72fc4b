// SPDX-License-Identifier: Apache-2.0
// Compares elements of an output with what is expected, one by one, and keeps what a report needs:
// the error of all and the first thing that is wrong, by place, so that the report does not depend
// on the order in which threads found it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

namespace common {

struct Finding {
    int row = std::numeric_limits<int>::max();
    int col = std::numeric_limits<int>::max();
    double got = 0.0;
    double expected = 0.0;
    double allowed = 0.0;
    bool found() const { return row != std::numeric_limits<int>::max(); }
    bool before(const Finding& other) const {
        return row != other.row ? row < other.row : col < other.col;
    }
};

struct Tally {
    double squared_error = 0.0;
    double squared_reference = 0.0;
    double worst_share = 0.0;  // largest error over its allowance
    Finding finding;

    void element(int row, int col, double got, double expected, double allowed) {
        const double error = std::abs(got - expected);
        squared_error += error * error;
        squared_reference += expected * expected;
        // Written so that a NaN fails: no comparison with it is true.
        if (error <= allowed) {
            if (allowed > 0.0) worst_share = std::max(worst_share, error / allowed);
            return;
        }
        worst_share = std::numeric_limits<double>::infinity();
        const Finding here{row, col, got, expected, allowed};
        if (here.before(finding)) finding = here;
    }

    void merge(const Tally& other) {
        squared_error += other.squared_error;
        squared_reference += other.squared_reference;
        worst_share = std::max(worst_share, other.worst_share);
        if (other.finding.before(finding)) finding = other.finding;
    }

    // Of the Frobenius norm.
    double relative_error() const {
        if (squared_reference > 0.0) return std::sqrt(squared_error / squared_reference);
        return squared_error == 0.0 ? 0.0 : std::numeric_limits<double>::infinity();
    }
};

// printf into a string: texts of verifications, which are short.
std::string describe(const char* format, auto... values) {
    char text[512];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}

// "out[row, col] is got, expected … within …".
inline std::string describe_finding(const char* name, const Finding& at) {
    return describe("%s[%d, %d] is %.9g, expected %.9g within %.2g", name, at.row, at.col, at.got,
                    at.expected, at.allowed);
}

}  // namespace common
