// SPDX-License-Identifier: Apache-2.0
// Every format's reader gets every text: it refuses it, or its results have ids of their own. The
// sample files that real results name are there.
#include <filesystem>
#include <set>
#include <string>

#include "fuzz.hpp"
#include "kinds/benchmark/formats/formats.hpp"
#include "util/file.hpp"

namespace {

/// A folder with the files "nvbench.json-bin/0.bin" and so on, of ten numbers each.
std::filesystem::path folder_with_samples() {
    const auto folder = std::filesystem::temp_directory_path() / "perfgate-fuzz-benchmark";
    std::string numbers;
    for (int i = 0; i < 10; ++i) numbers += std::string("\x00\x00\x80\x3f", 4);
    for (int i = 0; i < 7; ++i) {
        perfgate::util::write_file_atomically(
            folder / "nvbench.json-bin" / (std::to_string(i) + ".bin"), numbers);
    }
    return folder;
}

/// The places of the seeds; with `long_table`, rows have a metric and a unit.
perfgate::benchmark::Layout layout_of(const perfgate::benchmark::Format& format, bool long_table) {
    using perfgate::benchmark::PlaceKind;
    const bool path = format.places == PlaceKind::path;
    perfgate::benchmark::Layout reading;
    reading.format = format.name;
    if (format.is_generic()) {
        reading.rows = long_table ? "/*" : "/results/*";
        reading.name = path ? "/command" : "command";
        reading.axes = {{"n", path ? "/parameters/n" : "parameter_n"}};
    }
    if (format.places == PlaceKind::group) {
        reading.rows = "^(?<command>\\w+)=(?<median>[^;]*);(?<parameter_n>.*)$";
    }
    perfgate::benchmark::Value& value = reading.values.emplace_back();
    value.from = path ? "/times/*" : "median";
    value.definition.name = "value";
    value.definition.unit = "ns";
    if (!long_table || !format.is_table || format.places == PlaceKind::group) return reading;
    value.from = path ? "/value" : "Metric Value";
    value.unit_from = path ? "/unit" : "Metric Unit";
    value.where = {{path ? "/name" : "Metric Name", "a"}};
    reading.samples = {path ? "/extra" : "ID"};
    return reading;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace perfgate;
    static const std::filesystem::path folder = folder_with_samples();
    const std::string_view text = fuzz::text_of(data, size);
    for (const benchmark::Format& format : benchmark::formats()) {
        for (const bool long_table : {false, true}) {
            try {
                std::set<std::string> ids;
                const benchmark::Layout reading = layout_of(format, long_table);
                for (const auto& result :
                     benchmark::read_results(text, "file", reading, folder).results) {
                    if (!ids.insert(benchmark::id_of(result)).second) std::abort();
                }
            } catch (const util::InputError&) {
            }
        }
    }
    return 0;
}
