// SPDX-License-Identifier: Apache-2.0
#include "kinds/source/source.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "util/sha256.hpp"

namespace perfgate::source {

std::string Source::identity() const {
    return fmt::format(", code {}, kernel {}, launch {}, checked by {} within {} and {}",
                       kernel_.code.digest, kernel_.code.kernel_symbol,
                       model::set_up_fingerprint(kernel_),
                       kernel_.check.against.empty() ? "nothing" : kernel_.check.against,
                       kernel_.check.rtol, kernel_.check.atol);
}

std::shared_ptr<const model::Subject> Source::placed(const model::Placement& placement) const {
    model::SourceKernel kernel = kernel_;
    kernel.folder = placement.folder(kernel.folder);
    return std::make_shared<const Source>(std::move(kernel));
}

std::shared_ptr<const model::Subject> Source::with_machine_code(const std::string& file) const {
    model::SourceKernel kernel = kernel_;
    kernel.code.file = file;
    kernel.code.digest = util::fingerprint_of_file(file);
    return std::make_shared<const Source>(std::move(kernel));
}

std::string Source::absent(const model::CaseSpec& /*spec*/,
                           const model::WorkloadCatalogue& /*offered*/) const {
    std::error_code error;
    const auto file = std::filesystem::path(kernel_.folder) / kernel_.file;
    if (std::filesystem::exists(file, error)) return {};
    return fmt::format("it has no file '{}'", kernel_.file);
}

}  // namespace perfgate::source
