// SPDX-License-Identifier: Apache-2.0
// Where the parts of this perfgate are: found from the running binary, so that a build tree, an
// installation and an unpacked archive in any folder all work.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace perfgate::runner {

std::filesystem::path own_binary();

/// lib/perfgate/backends/libperfgate_cuda.so; need not exist.
std::filesystem::path cuda_backend_module();

/// lib/perfgate/libperfgate_inject.so; need not exist.
std::filesystem::path injection_library();

/// The worker that an interpreter of Python hosts, and the script that it starts with.
std::filesystem::path worker_library();
std::filesystem::path python_worker();

/// share/perfgate/demo: a recorded run that regressed, and its baselines; need not exist.
std::filesystem::path recorded_demo();

/// The largest file of the templates, in bytes.
inline constexpr std::size_t template_limit = std::size_t{1} << 20;

/// share/perfgate/pipelines: what `adopt` writes, a folder for each CI; share/perfgate/BUILD: where
/// the release comes from; share/perfgate/configs/ci.yaml. They need not exist.
std::filesystem::path pipeline_templates();
std::filesystem::path release_build_file();
std::filesystem::path release_config();

/// share/perfgate/templates: a folder per kind of project that `init` writes; need not exist.
std::filesystem::path project_templates();

/// The plugins that come with perfgate: lib/perfgate/plugins/*.so, sorted, without the second
/// modules (*_cuda.so), which are named by the first ones.
std::vector<std::string> bundled_plugins();

/// Likewise of any folder. Empty if there is none.
std::vector<std::string> plugins_in(const std::filesystem::path& folder);

/// The file of a plugin that an option names: itself or, if it is absent, libNAME.so for NAME.so,
/// which is what most build systems make.
std::string plugin_file(const std::string& named);

// The CUDA backend's shared library, which only the worker and `list --metrics` load.

/// Whether this installation includes it.
bool has_cuda_module();

}  // namespace perfgate::runner
