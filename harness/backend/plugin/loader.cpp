// SPDX-License-Identifier: Apache-2.0
#include "backend/plugin/loader.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <regex>

#include "backend/plugin/libraries.hpp"
#include "model/sha256.hpp"
#include "model/text.hpp"

namespace perfgate::backend {
namespace {

/// A struct of the ABI as in this build: fields missing in the plugin's older header are 0.
template <class T>
T known_part(const T* from) {
    T copy{};
    std::memcpy(&copy, from, std::min(from->size, sizeof(T)));
    return copy;
}

std::string text_or_empty(const char* text) {
    return text ? model::valid_utf8(text) : "";
}

bool is_name(const std::string& name) {
    static const std::regex pattern("[a-z][a-z0-9_]{0,63}");
    return std::regex_match(name, pattern);
}

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
    DataLimit(const DataLimit&) = delete;
    DataLimit& operator=(const DataLimit&) = delete;

  private:
    static constexpr rlim_t more_bytes = rlim_t{4} << 30;
    rlimit before_{};
    bool limited_ = false;
};

const pg_plugin* entry_of(const std::filesystem::path& file) {
    // The loader would wait forever for data from a pipe.
    std::error_code unreadable;
    const std::filesystem::file_status status = std::filesystem::status(file, unreadable);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
        throw model::InputError(fmt::format(
            "plugin {}: cannot be loaded: it is not a regular file; name a shared library",
            file.string()));
    }
    const DataLimit limit;
    // RTLD_LOCAL: two plugins may define the same symbols. RTLD_NOW: unresolved symbols are
    // reported here.
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char* why = dlerror();
        throw model::InputError(fmt::format("plugin {}: cannot be loaded: {}", file.string(),
                                            model::printable(why ? why : "unknown error")));
    }
    const auto entry = reinterpret_cast<pg_plugin_entry_fn>(dlsym(handle, PG_PLUGIN_SYMBOL));
    if (!entry) {
        throw model::InputError(fmt::format(
            "plugin {}: is not a perfgate plugin: it exports no {} (end it with PERFGATE_PLUGIN)",
            file.string(), PG_PLUGIN_SYMBOL));
    }
    const pg_plugin* plugin = entry();
    if (!plugin) {
        throw model::InputError(
            fmt::format("plugin {}: its entry failed (it returned no table)", file.string()));
    }
    if (plugin->abi_major != PG_ABI_MAJOR) {
        throw model::InputError(
            fmt::format("plugin {}: made for plugin ABI {}, this perfgate has {}: rebuild it",
                        file.string(), plugin->abi_major, PG_ABI_MAJOR));
    }
    return plugin;
}

model::ParamValue default_of(model::ParamType type, const std::string& text,
                             const std::string& where) {
    const auto refuse = [&] {
        throw model::InputError(fmt::format("{}: the default '{}' is no {}", where,
                                            model::printable(text, 60), model::to_text(type)));
    };
    const char* end = text.data() + text.size();
    switch (type) {
        case model::ParamType::boolean:
            if (text != "true" && text != "false") refuse();
            return text == "true";
        case model::ParamType::integer: {
            std::int64_t value = 0;
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            if (error != std::errc{} || stop != end) refuse();
            return value;
        }
        case model::ParamType::real: {
            double value = 0;
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            if (error != std::errc{} || stop != end) refuse();
            return value;
        }
        case model::ParamType::text:
            return text;
    }
    return text;
}

model::ParamInfo describe(const pg_param& param, const std::string& where) {
    model::ParamInfo info;
    info.name = text_or_empty(param.name);
    if (!is_name(info.name)) {
        throw model::InputError(
            fmt::format("{}: '{}' is not a valid parameter name ([a-z][a-z0-9_]*)", where,
                        model::printable(info.name, 60)));
    }
    info.help = text_or_empty(param.help);
    switch (param.type) {
        case PG_BOOL:
            info.type = model::ParamType::boolean;
            break;
        case PG_INT:
            info.type = model::ParamType::integer;
            break;
        case PG_REAL:
            info.type = model::ParamType::real;
            break;
        case PG_TEXT:
            info.type = model::ParamType::text;
            break;
        default:
            throw model::InputError(fmt::format("{}: parameter '{}' has the unknown type {}", where,
                                                info.name, static_cast<int>(param.type)));
    }
    info.minimum = param.minimum;
    info.maximum = param.maximum;
    for (const char* const* choice = param.choices; choice && *choice; ++choice) {
        info.choices.push_back(text_or_empty(*choice));
    }
    if (param.default_value) {
        info.default_value = default_of(info.type, text_or_empty(param.default_value),
                                        where + ", parameter '" + info.name + "'");
    }
    return info;
}

model::VariantInfo describe(const pg_variant& variant, const std::string& where) {
    model::VariantInfo info;
    info.name = text_or_empty(variant.name);
    if (!is_name(info.name)) {
        throw model::InputError(
            fmt::format("{}: '{}' is not a valid variant name ([a-z][a-z0-9_]*)", where,
                        model::printable(info.name, 60)));
    }
    info.help = text_or_empty(variant.help);
    info.target = variant.target == PG_HOST ? model::Target::host : model::Target::cuda;
    info.submission = variant.submission == PG_ASYNC   ? model::Submission::async
                      : variant.submission == PG_GRAPH ? model::Submission::graph
                                                       : model::Submission::synchronous;
    info.min_compute_capability = variant.min_compute_capability;
    return info;
}

bool is_complete(const pg_variant& variant) {
    return variant.create && variant.destroy && variant.fill && variant.launch && variant.verify &&
           (!variant.needs_reset || variant.reset);
}

void log_line(void* /*context*/, const char* message) {
    std::fprintf(stderr, "plugin: %s\n", model::printable(message ? message : "").c_str());
}

/// The model's name; empty if it is not stated, or unknown because the plugin is newer.
std::string_view name_of(pg_arithmetic arithmetic) {
    switch (arithmetic) {
        case PG_F32:
            return "f32";
        case PG_TF32:
            return "tf32";
        case PG_F16:
            return "f16";
        case PG_BF16:
            return "bf16";
        case PG_FP8:
            return "fp8";
        case PG_ARITHMETIC_UNSTATED:
            break;
    }
    return "";
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

/// Why a variant has no functions.
std::string absent(const std::filesystem::path& file, const std::filesystem::path& cuda_file,
                   bool cuda_loaded) {
    const std::string plugin = file.filename().string();
    if (cuda_file.empty()) return plugin + " lacks its functions and names no CUDA module";
    const std::string module = cuda_file.filename().string();
    return cuda_loaded ? fmt::format("{} does not have it", module)
                       : fmt::format("{} is not beside {}", module, plugin);
}

/// A host table whose set_error stores the text.
pg_host host_storing_into(std::string& error) {
    return {sizeof(pg_host), &error,
            [](void* context, const char* message) {
                *static_cast<std::string*>(context) = message ? message : "";
            },
            log_line};
}

}  // namespace

PluginInstance::PluginInstance(const pg_variant& variant, const pg_values* values)
    : host_(host_storing_into(error_)), variant_(&variant) {
    const pg_status status = variant.create(variant_, &host_, values, &instance_);
    if (status == PG_OK && !instance_) {
        throw model::Error("set-up: the plugin returned ok but no instance");
    }
    check(status, "set-up");
}

PluginInstance::~PluginInstance() {
    if (instance_) variant_->destroy(instance_);
}

void PluginInstance::check(pg_status status, const char* what) {
    if (status == PG_OK) return;
    std::string why = error_.empty() ? "the plugin gave no reason" : model::printable(error_);
    error_.clear();
    switch (status) {
        case PG_OUT_OF_MEMORY:
            throw PluginError(fmt::format("{}: out of memory: {}", what, why));
        case PG_UNSUPPORTED:
            throw PluginError(fmt::format("{}: unsupported: {}", what, why));
        default:
            throw PluginError(fmt::format("{}: {}", what, why));
    }
}

void PluginInstance::fill(std::uint64_t seed) {
    check(variant_->fill(instance_, seed), "fill");
}

void PluginInstance::launch(void* stream) {
    check(variant_->launch(instance_, stream), "launch");
}

void PluginInstance::reset(void* stream) {
    if (needs_reset()) check(variant_->reset(instance_, stream), "reset");
}

bool PluginInstance::needs_reset() const {
    return variant_->needs_reset != 0;
}

pg_submission PluginInstance::submission() const {
    return variant_->submission;
}

model::Verification PluginInstance::verify() {
    pg_verification result{};
    result.size = sizeof(result);
    check(variant_->verify(instance_, &result), "verify");
    result.detail[sizeof(result.detail) - 1] = '\0';
    return {result.passed != 0, 0, model::printable(result.detail)};
}

std::vector<Output> PluginInstance::outputs() {
    // A variant of an older plugin ends before this field.
    const auto name = known_part(variant_).outputs;
    if (name == nullptr) return {};
    return collect_outputs(
        [&](const pg_outputs& list) { check(name(instance_, &list), "outputs"); });
}

PluginSet::PluginSet(const measure::BackendOptions& options) {
    const auto loading = options.loading ? options.loading : [](const std::string&) {};
    note_own_libraries();
    for (const std::string& file : options.plugins) load(file, loading);
    loading("");
}

void PluginSet::load(const std::filesystem::path& file,
                     const std::function<void(const std::string&)>& loading) {
    loading(file.string());
    const pg_plugin plugin = known_part(entry_of(file));
    modules_.push_back(file);

    const pg_plugin* cuda = nullptr;
    std::filesystem::path cuda_file;
    if (plugin.cuda_module) {
        const std::string module = text_or_empty(plugin.cuda_module);
        if (!is_name(module)) {
            throw model::InputError(
                fmt::format("plugin {}: '{}' is not a valid module name ([a-z][a-z0-9_]*)",
                            file.string(), model::printable(module, 60)));
        }
        cuda_file = second_module(file.parent_path(), module);
        if (std::filesystem::exists(cuda_file)) {
            loading(cuda_file.string());
            cuda = entry_of(cuda_file);
            modules_.push_back(cuda_file);
        }
    }
    const auto built_variant = [&](const std::string& workload,
                                   const std::string& variant) -> const pg_variant* {
        if (!cuda) return nullptr;
        for (auto* w = known_part(cuda).workloads; w && *w; ++w) {
            if (text_or_empty((*w)->name) != workload) continue;
            for (auto* v = (*w)->variants; v && *v; ++v) {
                if (text_or_empty((*v)->name) == variant) return *v;
            }
        }
        return nullptr;
    };

    for (auto* w = plugin.workloads; w && *w; ++w) {
        const pg_workload workload = known_part(*w);
        model::WorkloadInfo info;
        info.name = text_or_empty(workload.name);
        const std::string where =
            fmt::format("plugin {}: workload '{}'", file.string(), model::printable(info.name, 60));
        if (!is_name(info.name)) {
            throw model::InputError(where + " is not a valid workload name ([a-z][a-z0-9_]*)");
        }
        if (model::find_workload(catalogue_, info.name)) {
            throw model::InputError(where + " is already offered by another plugin");
        }
        info.help = text_or_empty(workload.help);
        info.plugin = file.filename().string();
        for (auto* p = workload.params; p && *p; ++p) {
            info.params.push_back(describe(known_part(*p), where));
        }

        Workload entry{*w, {}, file, cuda ? cuda_file : std::filesystem::path{}};
        for (auto* v = workload.variants; v && *v; ++v) {
            const pg_variant described = known_part(*v);
            model::VariantInfo variant = describe(described, where);
            if (model::find_variant(info, variant.name)) {
                throw model::InputError(where + ": variant '" + variant.name + "' appears twice");
            }
            const pg_variant* built =
                is_complete(described) ? *v : built_variant(info.name, variant.name);
            if (built && !is_complete(known_part(built))) {
                throw model::InputError(
                    where + ": variant '" + variant.name +
                    "' lacks functions (create, destroy, fill, launch, verify)");
            }
            if (!built) variant.not_built = absent(file, cuda_file, cuda != nullptr);
            info.variants.push_back(std::move(variant));
            entry.variants.push_back({*v, built});
        }
        catalogue_.push_back(std::move(info));
        workloads_.push_back(std::move(entry));
    }
}

PluginSet::Found PluginSet::find(const model::CaseSpec& spec) const {
    const model::WorkloadInfo* workload = model::find_workload(catalogue_, spec.workload);
    if (!workload) {
        throw model::InputError(fmt::format("no plugin offers the workload '{}'", spec.workload));
    }
    const model::VariantInfo* variant = model::find_variant(*workload, spec.variant);
    if (!variant) {
        throw model::InputError(
            fmt::format("workload '{}' has no variant '{}'", spec.workload, spec.variant));
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
            error.empty() ? "the plugin gave no reason" : model::printable(error);
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
        throw model::Error(fmt::format("variant '{}' of '{}' was not built: {}", spec.variant,
                                       spec.workload, found.variant_info->not_built));
    }
    const PluginValues values(*found.workload_info, spec.params);
    return std::make_unique<PluginInstance>(*found.variant->built, values.get());
}

const std::string& PluginSet::fingerprint(const std::filesystem::path& file) const {
    const auto [known, added] = fingerprints_.try_emplace(file);
    if (added) known->second = model::fingerprint_of_file(file);
    return known->second;
}

std::string PluginSet::module_code(const Found& found) const {
    const Workload& workload = *found.workload;
    const std::string& described = fingerprint(workload.file);
    if (found.variant_info->target == model::Target::host || workload.cuda_file.empty()) {
        return described;
    }
    const std::string& built = fingerprint(workload.cuda_file);
    if (described.empty() || built.empty()) return {};
    model::Sha256 both;
    both.add(described);
    both.add(built);
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
    return {module_code(found), libraries_of(modules)};
}

model::Libraries PluginSet::libraries() const {
    return libraries_of(modules_).value_or(model::Libraries{});
}

}  // namespace perfgate::backend
