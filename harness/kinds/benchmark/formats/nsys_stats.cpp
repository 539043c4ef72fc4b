// SPDX-License-Identifier: Apache-2.0
// `nsys stats --format csv`, reports of kernels such as cuda_gpu_kern_sum: a line for each kernel,
// whose median is its time. The first table of the file is read.
#include <algorithm>

#include "kinds/benchmark/formats/csv.hpp"
#include "kinds/benchmark/formats/formats.hpp"

namespace perfgate::benchmark {

Results read_nsys_stats(std::string_view text, std::string_view /*source*/, const Layout& reading) {
    Layout layout;
    layout.name = "Name";
    layout.values = {value_of("real_time", "Med (ns)")};
    for (const char* size : {"GridXYZ", "BlockXYZ"}) {
        const CsvHeader header = find_csv_header(text, {"Name", "Med (ns)", size});
        const bool has = std::ranges::find(header.fields, size) != header.fields.end();
        if (has) layout.axes.emplace_back(size, size);
    }
    const KnownRows known;
    Results results =
        read_rows_of_csv(text, completed(std::move(layout), reading),
                         {.known = &known, .thousands = true, .until_empty_line = true});
    for (Result& result : results.results) {
        for (auto& [metric, samples] : result.metrics) samples.method.way = "median";
    }
    return results;
}

}  // namespace perfgate::benchmark
