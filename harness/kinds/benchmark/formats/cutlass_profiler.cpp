// SPDX-License-Identifier: Apache-2.0
// The CSV of the CUTLASS profiler, from `--output` or at the end of what it prints. The problem is
// the parameters; what follows from the operation is not.
#include <algorithm>
#include <array>
#include <string_view>

#include "kinds/benchmark/formats/csv.hpp"
#include "kinds/benchmark/formats/formats.hpp"

namespace perfgate::benchmark {

Results read_cutlass_profiler(std::string_view text, std::string_view /*source*/,
                              const Layout& reading) {
    constexpr double ns_of_ms = 1e6;
    static constexpr std::array<std::string_view, 24> problem{"Provider",
                                                              "m",
                                                              "n",
                                                              "k",
                                                              "h",
                                                              "w",
                                                              "c",
                                                              "r",
                                                              "s",
                                                              "p",
                                                              "q",
                                                              "pad_h",
                                                              "pad_w",
                                                              "stride_h",
                                                              "stride_w",
                                                              "dilation_h",
                                                              "dilation_w",
                                                              "batch_count",
                                                              "split_k_slices",
                                                              "split_k_mode",
                                                              "alpha",
                                                              "beta",
                                                              "raster_order",
                                                              "swizzle_size"};
    Layout layout;
    layout.name = "Operation";
    layout.values = {value_of("real_time", "Runtime", ns_of_ms)};
    layout.samples = {"Problem"};
    const CsvHeader header =
        find_csv_header(text, {"Problem", "Operation", "Disposition", "Status", "Runtime"});
    const auto has = [&](std::string_view column) {
        return std::ranges::count(header.fields, column) == 1;
    };
    for (const std::string_view column : problem) {
        if (has(column)) layout.axes.emplace_back(column, column);
    }
    // They follow from the time: a layer that a network has twice is in two lines.
    for (const char* column : {"GB/s", "GFLOPs"}) {
        if (has(column)) layout.samples.emplace_back(column);
    }
    const KnownRows known{
        {{"Status", {"success"}}, {"Disposition", {"passed", "not_verified", "not_run"}}}};
    return read_rows_of_csv(text, completed(std::move(layout), reading),
                            {.known = &known, .until_empty_line = true});
}

}  // namespace perfgate::benchmark
