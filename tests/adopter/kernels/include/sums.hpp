#pragma once
#include <cstddef>
#include <vector>

inline double plain_sum(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum;
}

inline double pairwise_sum(const double* values, std::size_t count) {
    if (count <= 8) {
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i) sum += values[i];
        return sum;
    }
    const std::size_t half = count / 2;
    return pairwise_sum(values, half) + pairwise_sum(values + half, count - half);
}
