// SPDX-License-Identifier: Apache-2.0
#include "runner/installation.hpp"

#include <algorithm>
#include <system_error>

#include "util/error.hpp"

namespace perfgate::runner {

namespace {

std::filesystem::path prefix() {
    return own_binary().parent_path().parent_path();
}

std::filesystem::path library_folder() {
    return prefix() / "lib" / "perfgate";
}

}  // namespace

std::filesystem::path own_binary() {
    std::error_code error;
    std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) throw util::Error("cannot find the running binary through /proc/self/exe");
    return path;
}

std::filesystem::path cuda_backend_module() {
    return library_folder() / "backends" / "libperfgate_cuda.so";
}

std::filesystem::path injection_library() {
    return library_folder() / "libperfgate_inject.so";
}

std::filesystem::path worker_library() {
    return library_folder() / "libperfgate_worker.so";
}

std::filesystem::path python_worker() {
    return library_folder() / "python" / "worker.py";
}

std::filesystem::path recorded_demo() {
    return prefix() / "share" / "perfgate" / "demo";
}

std::filesystem::path project_templates() {
    return prefix() / "share" / "perfgate" / "templates";
}

std::filesystem::path pipeline_templates() {
    return prefix() / "share" / "perfgate" / "pipelines";
}

std::filesystem::path release_build_file() {
    return prefix() / "share" / "perfgate" / "BUILD";
}

std::filesystem::path release_config() {
    return prefix() / "share" / "perfgate" / "configs" / "ci.yaml";
}

std::vector<std::string> bundled_plugins() {
    return plugins_in(library_folder() / "plugins");
}

std::string plugin_file(const std::string& named) {
    const std::filesystem::path file = named;
    std::error_code error;
    const std::filesystem::path other = file.parent_path() / ("lib" + file.filename().string());
    const bool only_other = !std::filesystem::exists(file, error) && file.extension() == ".so" &&
                            std::filesystem::exists(other, error);
    return only_other ? other.string() : named;
}

std::vector<std::string> plugins_in(const std::filesystem::path& folder) {
    std::vector<std::string> plugins;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        const std::filesystem::path& file = entry.path();
        if (file.extension() != ".so") continue;
        const std::string stem = file.stem().string();
        const bool second_module = stem.size() > 5 && stem.ends_with("_cuda");
        if (!second_module) plugins.push_back(file.string());
    }
    std::ranges::sort(plugins);
    return plugins;
}

bool has_cuda_module() {
    return std::filesystem::exists(cuda_backend_module());
}

}  // namespace perfgate::runner
