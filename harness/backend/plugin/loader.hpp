// SPDX-License-Identifier: Apache-2.0
// Loads plugins, asks them about their cases and opens these.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/plugin/descriptors.hpp"
#include "backend/plugin/plugin_instance.hpp"
#include "measure/backend.hpp"
#include "model/catalogue.hpp"
#include "model/run.hpp"
#include "perfgate.h"

namespace perfgate::backend {

/// The plugins of a worker. They stay loaded until the process ends: kernels and callbacks of
/// unloaded code would crash.
class PluginSet {
  public:
    /// Throws InputError naming the file: not a shared library, no plugin entry, another ABI, names
    /// that are malformed or taken. A bundled plugin's workload gives way to another of its name.
    explicit PluginSet(const measure::BackendOptions& options);

    const model::WorkloadCatalogue& catalogue() const { return catalogue_; }

    /// What the plugin reports about a case without setting it up.
    measure::CaseFacts facts(const model::CaseSpec& spec) const;
    const model::VariantInfo& variant(const model::CaseSpec& spec) const;
    std::unique_ptr<PluginInstance> open(const model::CaseSpec& spec) const;
    /// The modules that contain the variant's functions, and what those have loaded so far. A file
    /// is read at the first call that needs it; if it cannot be read, the result is unknown.
    measure::HostCode host_code(const model::CaseSpec& spec) const;
    /// What the plugins have loaded so far, as far as it is readable.
    model::Libraries libraries() const;

  private:
    struct Variant {
        const pg_variant* described;  ///< in the descriptor module
        const pg_variant* built;      ///< the one with functions; null if not built
    };
    struct Workload {
        const pg_workload* c;
        std::vector<Variant> variants;  ///< parallel to the catalogue's
        std::filesystem::path file;
        std::filesystem::path cuda_file;  ///< empty if there is no such module
    };
    struct Found {
        const model::WorkloadInfo* workload_info;
        const model::VariantInfo* variant_info;
        const Workload* workload;
        const Variant* variant;
    };

    /// The second module of a plugin, with its CUDA variants.
    struct CudaModule {
        std::filesystem::path file;         ///< empty: the plugin names none; it may not exist
        const pg_plugin* plugin = nullptr;  ///< null: not loaded
    };

    void load(const std::filesystem::path& file, const measure::BackendOptions& options,
              bool bundled);
    CudaModule load_cuda_module(const std::filesystem::path& file, const std::string& name,
                                const measure::BackendOptions& options);
    void add(const pg_workload* table, const std::filesystem::path& file, const CudaModule& cuda,
             bool bundled);
    Found find(const model::CaseSpec& spec) const;
    const std::string& fingerprint(const std::filesystem::path& file) const;
    std::string module_code(const Found& found) const;
    std::optional<model::Libraries> libraries_of(
        const std::vector<std::filesystem::path>& modules) const;

    model::WorkloadCatalogue catalogue_;
    std::vector<Workload> workloads_;             ///< parallel to catalogue_
    std::vector<std::filesystem::path> modules_;  ///< of all plugins
    mutable std::map<std::filesystem::path, std::string> fingerprints_;
    std::map<std::filesystem::path, std::string> imports_;  ///< of scripts, as they say it
};

}  // namespace perfgate::backend
