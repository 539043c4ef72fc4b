// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/loader.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <utility>

#include "backend/plugin/libraries.hpp"
#include "util/error.hpp"
#include "util/sha256.hpp"
#include "util/text.hpp"

namespace perfgate::backend {

namespace {

// The bound on what a plugin allocates while it only answers queries.

/// Bounds what a plugin may allocate while it only answers queries, so that an endless leak ends in
/// a failed allocation and does not exhaust the machine's memory. Measured functions have no such
/// bound. Limits the data segment of the process; address space that drivers reserve does not
/// count.
class DataLimit {
  public:
    DataLimit() {
        std::ifstream status("/proc/self/status");
        std::string word;
        std::uint64_t data_kib = 0;
        while (status >> word && word != "VmData:") {
        }
        if (!(status >> data_kib) || getrlimit(RLIMIT_DATA, &before_) != 0) return;
        const rlimit bounded{std::min<rlim_t>(data_kib * 1024 + more_bytes, before_.rlim_cur),
                             before_.rlim_max};
        limited_ = setrlimit(RLIMIT_DATA, &bounded) == 0;
    }
    ~DataLimit() {
        if (limited_) setrlimit(RLIMIT_DATA, &before_);
    }
    DataLimit& operator=(DataLimit&&) = delete;  // nor copied

  private:
    static constexpr rlim_t more_bytes = rlim_t{4} << 30;
    rlimit before_{};
    bool limited_ = false;
};

/// A library's table of workloads.
const pg_plugin* library_entry(const std::filesystem::path& file) {
    // The loader would wait forever for data from a pipe.
    std::error_code unreadable;
    const std::filesystem::file_status status = std::filesystem::status(file, unreadable);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        throw util::InputError(
            "plugin {}: cannot be loaded: it is not a regular file; name a shared library",
            file.string());
    }
    const DataLimit limit;
    // RTLD_LOCAL: two plugins may define the same symbols. RTLD_NOW: unresolved symbols are
    // reported here.
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char* why = dlerror();
        throw util::InputError("plugin {}: cannot be loaded: {}", file.string(),
                               util::printable(why ? why : "unknown error"));
    }
    const auto entry = reinterpret_cast<pg_plugin_entry_fn>(dlsym(handle, PG_PLUGIN_SYMBOL));
    if (!entry) {
        throw util::InputError(
            "plugin {}: is not a perfgate plugin: it exports no {} (end it with PERFGATE_PLUGIN)",
            file.string(), PG_PLUGIN_SYMBOL);
    }
    return entry();
}

bool is_script(const std::filesystem::path& file) {
    return file.extension() == ".py";
}

const pg_plugin* script_entry(const std::filesystem::path& file,
                              const measure::BackendOptions& options, std::string& said) {
    if (!options.scripts) {
        throw util::InputError("plugin {}: this worker has no Python interpreter", file.string());
    }
    const pg_plugin* plugin = options.scripts(file.string(), said);
    if (plugin == nullptr && !said.empty()) {
        throw util::InputError("{}: {}", file.string(), util::printable(said, 1000));
    }
    return plugin;
}

const pg_plugin* entry_of(const std::filesystem::path& file, const measure::BackendOptions& options,
                          std::string& said) {
    const pg_plugin* plugin =
        is_script(file) ? script_entry(file, options, said) : library_entry(file);
    if (!plugin) {
        throw util::InputError("plugin {}: its entry failed (it returned no table)", file.string());
    }
    if (plugin->abi_major != PG_ABI_MAJOR) {
        throw util::InputError(
            "plugin {}: made for plugin ABI {}, this perfgate has {}: rebuild it", file.string(),
            plugin->abi_major, PG_ABI_MAJOR);
    }
    return plugin;
}

/// The file of a CUDA module, by the names that build systems give it; need not exist.
std::filesystem::path second_module(const std::filesystem::path& folder,
                                    const std::string& module) {
    const std::filesystem::path usual = folder / (module + ".so");
    const std::filesystem::path with_prefix = folder / ("lib" + module + ".so");
    const bool only_with_prefix =
        !std::filesystem::exists(usual) && std::filesystem::exists(with_prefix);
    return only_with_prefix ? with_prefix : usual;
}

/// The variant in a module's table; null if the module lacks it, or there is none.
const pg_variant* find_variant(const pg_plugin* module, const std::string& workload,
                               const std::string& variant) {
    if (!module) return nullptr;
    for (auto* w = known_part(module).workloads; w && *w; ++w) {
        if (text_or_empty((*w)->name) != workload) continue;
        for (auto* v = (*w)->variants; v && *v; ++v) {
            if (text_or_empty((*v)->name) == variant) return *v;
        }
    }
    return nullptr;
}

/// Why a variant has no functions.
std::string absent(const std::filesystem::path& file, const std::filesystem::path& cuda_file,
                   bool cuda_loaded) {
    const std::string plugin = file.filename().string();
    if (cuda_file.empty()) return plugin + " lacks its functions and names no CUDA module";
    const std::string module = cuda_file.filename().string();
    return cuda_loaded ? fmt::format("{} does not have it", module)
                       : fmt::format("{} is not beside {}", module, plugin);
}

}  // namespace

PluginSet::PluginSet(const measure::BackendOptions& options) {
    note_own_libraries();
    for (const std::string& file : options.plugins) load(file, options, false);
    for (const std::string& file : options.bundled) load(file, options, true);
    if (options.loading) options.loading("");
}

void PluginSet::load(const std::filesystem::path& file, const measure::BackendOptions& options,
                     bool bundled) {
    if (options.loading) options.loading(file.string());
    const pg_plugin plugin = known_part(entry_of(file, options, imports_[file]));
    modules_.push_back(file);
    CudaModule cuda;
    if (plugin.cuda_module) {
        cuda = load_cuda_module(file, text_or_empty(plugin.cuda_module), options);
    }
    for (auto* workload = plugin.workloads; workload && *workload; ++workload) {
        add(*workload, file, cuda, bundled);
    }
}

PluginSet::CudaModule PluginSet::load_cuda_module(const std::filesystem::path& file,
                                                  const std::string& name,
                                                  const measure::BackendOptions& options) {
    if (!is_name(name)) {
        throw util::InputError("plugin {}: '{}' is not a valid module name ([a-z][a-z0-9_]*)",
                               file.string(), util::printable(name, 60));
    }
    CudaModule module{second_module(file.parent_path(), name), nullptr};
    if (std::filesystem::exists(module.file)) {
        if (options.loading) options.loading(module.file.string());
        module.plugin = entry_of(module.file, options, imports_[module.file]);
        modules_.push_back(module.file);
    }
    return module;
}

void PluginSet::add(const pg_workload* table, const std::filesystem::path& file,
                    const CudaModule& cuda, bool bundled) {
    const pg_workload workload = known_part(table);
    model::WorkloadInfo info;
    info.name = text_or_empty(workload.name);
    const std::string where =
        fmt::format("plugin {}: workload '{}'", file.string(), util::printable(info.name, 60));
    if (!is_name(info.name)) {
        throw util::InputError(where + " is not a valid workload name ([a-z][a-z0-9_]*)");
    }
    if (const model::WorkloadInfo* other = model::find_workload(catalogue_, info.name)) {
        if (bundled) return;
        throw util::InputError("{} is already offered by {}; load one of them", where,
                               util::printable(other->plugin));
    }
    info.help = text_or_empty(workload.help);
    info.plugin = file.string();
    info.bundled = bundled;
    for (auto* param = workload.params; param && *param; ++param) {
        info.params.push_back(describe(known_part(*param), where));
    }

    Workload entry{table, {}, file, cuda.plugin ? cuda.file : std::filesystem::path{}};
    for (auto* each = workload.variants; each && *each; ++each) {
        const pg_variant described = known_part(*each);
        model::VariantInfo variant = describe(described, where);
        if (model::find_variant(info, variant.name)) {
            throw util::InputError(where + ": variant '" + variant.name + "' appears twice");
        }
        const pg_variant* built =
            is_complete(described) ? *each : find_variant(cuda.plugin, info.name, variant.name);
        if (built && !is_complete(known_part(built))) {
            throw util::InputError(where + ": variant '" + variant.name +
                                   "' lacks functions (create, destroy, fill, launch, verify)");
        }
        if (!built) variant.not_built = absent(file, cuda.file, cuda.plugin != nullptr);
        info.variants.push_back(std::move(variant));
        entry.variants.push_back({*each, built});
    }
    catalogue_.push_back(std::move(info));
    workloads_.push_back(std::move(entry));
}

PluginSet::Found PluginSet::find(const model::CaseSpec& spec) const {
    const model::WorkloadInfo* workload = model::find_workload(catalogue_, spec.workload);
    if (!workload) {
        throw util::InputError("no plugin offers the workload '{}'", spec.workload);
    }
    const model::VariantInfo* variant = model::find_variant(*workload, spec.variant);
    if (!variant) {
        throw util::InputError("workload '{}' has no variant '{}'", spec.workload, spec.variant);
    }
    const Workload& entry = workloads_[static_cast<std::size_t>(workload - catalogue_.data())];
    return {workload, variant, &entry,
            &entry.variants[static_cast<std::size_t>(variant - workload->variants.data())]};
}

measure::CaseFacts PluginSet::facts(const model::CaseSpec& spec) const {
    const Found found = find(spec);
    const PluginValues values(*found.workload_info, spec.params);
    const pg_variant* variant = found.variant->described;
    const pg_variant described = known_part(variant);
    const DataLimit limit;
    measure::CaseFacts facts;
    facts.needs_reset = described.needs_reset != 0;
    if (described.supports) {
        std::string error;
        const pg_host host = host_storing_into(error);
        const pg_status status = described.supports(variant, &host, values.get());
        const std::string why =
            error.empty() ? "the plugin gave no reason" : util::printable(error);
        if (status == PG_UNSUPPORTED) {
            facts.unsupported = why;
        } else if (status != PG_OK) {
            throw PluginError("supports: " + why);
        }
    }
    if (described.memory_bytes) facts.memory_bytes = described.memory_bytes(variant, values.get());
    const pg_workload workload = known_part(found.workload->c);
    if (workload.work) {
        pg_work work{};
        work.size = sizeof(work);
        workload.work(found.workload->c, values.get(), &work);
        facts.work = {work.flops, work.bytes, std::string(name_of(work.arithmetic))};
    }
    return facts;
}

const model::VariantInfo& PluginSet::variant(const model::CaseSpec& spec) const {
    return *find(spec).variant_info;
}

std::unique_ptr<PluginInstance> PluginSet::open(const model::CaseSpec& spec) const {
    const Found found = find(spec);
    if (!found.variant->built) {
        throw util::Error("variant '{}' of '{}' was not built: {}", spec.variant, spec.workload,
                          found.variant_info->not_built);
    }
    const PluginValues values(*found.workload_info, spec.params);
    return std::make_unique<PluginInstance>(*found.variant->built, values.get());
}

const std::string& PluginSet::fingerprint(const std::filesystem::path& file) const {
    const auto [known, added] = fingerprints_.try_emplace(file);
    if (added) known->second = util::fingerprint_of_file(file);
    return known->second;
}

std::string PluginSet::module_code(const Found& found) const {
    const Workload& workload = *found.workload;
    const std::string& described = fingerprint(workload.file);
    const bool alone =
        found.variant_info->target == model::Target::host || workload.cuda_file.empty();
    const std::string& other = alone ? imports_.at(workload.file) : fingerprint(workload.cuda_file);
    if (alone && other.empty()) return described;
    if (described.empty() || other.empty() || other == measure::BackendOptions::unknown_imports) {
        return {};
    }
    util::Sha256 both;
    both.add(described);
    both.add(other);
    return both.fingerprint();
}

std::optional<model::Libraries> PluginSet::libraries_of(
    const std::vector<std::filesystem::path>& modules) const {
    model::Libraries libraries;
    for (const Library& library : libraries_loaded_by(modules, modules_)) {
        const std::string& code = fingerprint(library.file);
        if (code.empty()) return std::nullopt;
        libraries[library.name] += code;  // if two folders have the name: both, in order
    }
    return libraries;
}

measure::HostCode PluginSet::host_code(const model::CaseSpec& spec) const {
    const Found found = find(spec);
    std::vector<std::filesystem::path> modules{found.workload->file};
    if (!found.workload->cuda_file.empty()) modules.push_back(found.workload->cuda_file);
    // What an interpreter imports is too large to read for each case.
    if (is_script(found.workload->file)) return {module_code(found), std::nullopt};
    return {module_code(found), libraries_of(modules)};
}

model::Libraries PluginSet::libraries() const {
    if (std::ranges::any_of(modules_, is_script)) return {};
    return libraries_of(modules_).value_or(model::Libraries{});
}

}  // namespace perfgate::backend
