// SPDX-License-Identifier: Apache-2.0
#include "runner/code_file.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <system_error>

#include "document/kernel_code.hpp"
#include "model/case.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/folder.hpp"
#include "util/text.hpp"

namespace perfgate::runner {
namespace {

namespace fs = std::filesystem;

constexpr const char* code_file = "code.json";
constexpr const char* base_code_file = "base/code.json";
constexpr std::size_t most_cases = 16;
constexpr std::size_t most_bytes = std::size_t{64} << 20;

void warn(const std::string& what) {
    fmt::print(stderr, "perfgate: warning: {}\n", util::printable(what, 500));
}

/// About what it takes in the file.
std::size_t size_of(const model::CaseCode& code) {
    std::size_t bytes = 0;
    for (const model::KernelCode& kernel : code.kernels) {
        for (const model::Instruction& each : kernel.listing.instructions) {
            bytes += 40 + each.text.size() + each.place.file.size();
        }
    }
    return bytes;
}

std::vector<model::CaseCode> read_side(const fs::path& file) {
    std::error_code absent;
    if (fs::symlink_status(file, absent).type() != fs::file_type::regular) return {};
    try {
        return document::parse_code(util::read_file(file, 2 * most_bytes, "machine code"),
                                    file.string());
    } catch (const util::Error& error) {
        warn(error.what());
    }
    return {};
}

}  // namespace

void store_code(measure::Session& session, const std::vector<model::CaseIndex>& cases,
                const fs::path& out) {
    if (session.interrupted()) return;
    std::vector<model::CaseIndex> first;
    std::vector<model::CaseCode> beyond;
    for (const model::CaseIndex& at : cases) {
        const model::SuiteResult& suite = session.run().suites.at(at.suite);
        const model::CaseResult& result = suite.cases.at(at.index);
        if (!result.metrics.contains("code_instructions")) continue;
        if (first.size() < most_cases) {
            first.push_back(at);
            continue;
        }
        model::CaseCode& code = beyond.emplace_back();
        code.suite = suite.name;
        code.id = model::case_id(result.spec);
        code.problem =
            fmt::format("the machine code of {} others is kept: run this case by itself (--filter)",
                        most_cases);
    }
    if (first.empty()) return;
    try {
        std::vector<model::CaseCode> all = session.machine_code(first);
        std::size_t bytes = 0;
        for (model::CaseCode& code : all) {
            bytes += size_of(code);
            if (bytes <= most_bytes) continue;
            code.kernels.clear();
            code.problem = fmt::format(
                "the machine code of the run's cases is larger than {} MiB: run this case by "
                "itself (--filter)",
                most_bytes >> 20);
        }
        all.insert(all.end(), beyond.begin(), beyond.end());
        if (all.empty()) return;
        util::Folder(out).write(code_file, document::write_code(all));
    } catch (const util::Error& error) {
        warn(fmt::format("no machine code is kept: {}", error.what()));
    }
}

void remove_code(const fs::path& out) {
    for (const char* file : {code_file, base_code_file}) util::remove_below(out, file);
}

StoredCode read_code(const fs::path& folder) {
    return {read_side(folder / base_code_file), read_side(folder / code_file)};
}

}  // namespace perfgate::runner
