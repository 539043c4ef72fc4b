// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/libraries.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>

#include "util/text.hpp"

namespace perfgate::backend {
namespace {

namespace fs = std::filesystem;

/// Globs of file names before ".so".
constexpr std::string_view platform_names[] = {
    // C library
    "ld-linux*", "libc", "libm", "libmvec", "libdl", "libpthread", "librt", "libresolv", "libutil",
    "libnsl", "libnss_*", "libanl",
    // runtime of the compiler
    "libstdc++", "libgcc_s",
    // CUDA driver
    "libcuda", "libcudadebugger", "libnvidia-*",
    // CUDA toolkit; libraries released separately, like cuDNN and NCCL, are not part of it
    "libcudart", "libcublas", "libcublasLt", "libnvblas", "libcufft", "libcufftw", "libcurand",
    "libcusolver", "libcusolverMg", "libcusparse", "libnpp*", "libnvjpeg", "libnvrtc",
    "libnvrtc-builtins", "libnvJitLink", "libnvfatbin", "libnvvm", "libcufile", "libcufile_rdma",
    "libcupti", "libnvperf_host", "libnvperf_target", "libpcsamplingutil", "libcheckpoint",
    "libOpenCL"};

struct LoadedObject {
    std::string name, soname;
    fs::path file;
    std::vector<std::string> needed;
};

fs::path without_links(const fs::path& file) {
    std::error_code error;
    fs::path found = fs::canonical(file, error);
    return error ? file : found;
}

/// Name and dependencies from the dynamic section, as the dynamic linker mapped it.
void read_dynamic(const dl_phdr_info& info, const ElfW(Dyn) * entry, LoadedObject& object) {
    const char* strings = nullptr;
    for (const auto* at = entry; at->d_tag != DT_NULL; ++at) {
        if (at->d_tag != DT_STRTAB) continue;
        // Relocated by glibc if the section is writable.
        const ElfW(Addr) address = at->d_un.d_ptr;
        strings = reinterpret_cast<const char*>(address < info.dlpi_addr ? address + info.dlpi_addr
                                                                         : address);
    }
    if (strings == nullptr) return;
    for (; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_NEEDED) object.needed.emplace_back(strings + entry->d_un.d_val);
        if (entry->d_tag == DT_SONAME) object.soname = strings + entry->d_un.d_val;
    }
}

int add_object(dl_phdr_info* info, std::size_t /*size*/, void* data) {
    const std::string_view path = info->dlpi_name;
    if (path.find('/') == std::string_view::npos) return 0;  // the program, the kernel's vdso
    LoadedObject object;
    object.file = without_links(path);
    object.name = fs::path(path).filename().string();
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& header = info->dlpi_phdr[i];
        if (header.p_type != PT_DYNAMIC) continue;
        read_dynamic(*info, reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + header.p_vaddr),
                     object);
    }
    if (object.soname.empty()) object.soname = object.name;
    static_cast<std::vector<LoadedObject>*>(data)->push_back(std::move(object));
    return 0;
}

std::vector<LoadedObject> loaded_objects() {
    std::vector<LoadedObject> objects;
    dl_iterate_phdr(add_object, &objects);
    return objects;
}

const std::set<fs::path>& own_files() {
    static const std::set<fs::path> files = [] {
        std::set<fs::path> found;
        for (const LoadedObject& object : loaded_objects()) found.insert(object.file);
        return found;
    }();
    return files;
}

/// The modules, and what they link.
std::set<fs::path> linked_by(const std::vector<fs::path>& modules,
                             const std::vector<LoadedObject>& objects) {
    std::set<fs::path> reached;
    std::vector<const LoadedObject*> open;
    const auto reach = [&](const auto& wanted) {
        for (const LoadedObject& object : objects) {
            if (wanted(object) && reached.insert(object.file).second) open.push_back(&object);
        }
    };
    for (const fs::path& module : modules) {
        const fs::path file = without_links(module);
        reach([&](const LoadedObject& object) { return object.file == file; });
    }
    while (!open.empty()) {
        const LoadedObject& from = *open.back();
        open.pop_back();
        for (const std::string& needed : from.needed) {
            reach([&](const LoadedObject& object) { return object.soname == needed; });
        }
    }
    return reached;
}

}  // namespace

void note_own_libraries() {
    own_files();
}

bool is_platform_library(const fs::path& file, const fs::path& plugin_folder) {
    const auto [end, unused] =
        std::mismatch(plugin_folder.begin(), plugin_folder.end(), file.begin(), file.end());
    if (end == plugin_folder.end()) return false;
    const std::string name = file.filename().string();
    const std::string_view stem = std::string_view(name).substr(0, name.find(".so"));
    return std::ranges::any_of(platform_names,
                               [&](std::string_view glob) { return util::glob_match(glob, stem); });
}

std::vector<Library> libraries_loaded_by(const std::vector<fs::path>& modules,
                                         const std::vector<fs::path>& all_modules) {
    const std::vector<LoadedObject> objects = loaded_objects();
    const std::set<fs::path> linked = linked_by(modules, objects);
    const std::set<fs::path> linked_by_any = linked_by(all_modules, objects);
    std::set<fs::path> module_files;
    for (const fs::path& module : all_modules) module_files.insert(without_links(module));

    std::vector<Library> libraries;
    for (const LoadedObject& object : objects) {
        const bool at_run_time = !linked_by_any.contains(object.file);
        if (!at_run_time && !linked.contains(object.file)) continue;
        if (own_files().contains(object.file) || module_files.contains(object.file)) continue;
        const bool platform = std::ranges::all_of(modules, [&](const fs::path& module) {
            return is_platform_library(object.file, without_links(module).parent_path());
        });
        if (!platform) libraries.push_back({object.name, object.file});
    }
    std::ranges::sort(libraries, [](const Library& a, const Library& b) {
        return std::tie(a.name, a.file) < std::tie(b.name, b.file);
    });
    return libraries;
}

}  // namespace perfgate::backend
