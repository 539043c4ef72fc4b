// SPDX-License-Identifier: Apache-2.0
#include "runner/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "measure/journal.hpp"
#include "measure/workers.hpp"
#include "model/subject.hpp"
#include "runner/installation.hpp"
#include "runner/interruption.hpp"
#include "suite/named_plugins.hpp"
#include "suite/plan.hpp"
#include "util/error.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace perfgate::runner {

namespace {

/// A worker must report what it can do within this time; the first CUDA start on a cold machine
/// takes seconds.
constexpr double describe_limit_s = 60;

measure::Capabilities describe(measure::Workers& workers) {
    const measure::Reply reply = workers.must_ask(measure::DescribeRequest{}, describe_limit_s);
    const auto* described = std::get_if<measure::DescribeReply>(&reply);
    if (!described) throw util::Error("worker: its reply does not match the request");
    return described->capabilities;
}

/// The chosen devices, and the worker that listed them.
struct Listed {
    std::vector<measure::ListedDevice> devices;
    std::unique_ptr<measure::Workers> by;
};

std::vector<measure::ListedDevice> devices_named(const std::string& wanted,
                                                 measure::Workers& workers) {
    const measure::Reply reply =
        workers.must_ask(measure::DevicesRequest{wanted}, describe_limit_s);
    const auto* listed = std::get_if<measure::DevicesReply>(&reply);
    if (!listed || listed->devices.empty()) {
        throw util::Error("worker: its reply does not match the request");
    }
    return listed->devices;
}

Listed list_devices(const BackendChoice& choice, const std::string& backend) {
    BackendChoice without_python = choice;
    without_python.interpreters.clear();
    auto workers = std::make_unique<measure::Workers>(worker_command(without_python, backend, ""),
                                                      interrupted);
    return {devices_named(choice.devices, *workers), std::move(workers)};
}

/// A run has one device key: its baselines are kept under it.
void require_one_key(const std::vector<measure::ListedDevice>& devices) {
    const measure::ListedDevice& first = devices.front();
    for (const measure::ListedDevice& other : devices) {
        if (other.device.key != first.device.key) {
            throw util::InputError(
                "--devices: {} is a {} and {} is a {}: one run measures boards of one kind; run "
                "once for each kind",
                first.id, first.device.name, other.id, other.device.name);
        }
    }
}

measure::DeviceLock::Waiting waiting_of(const MeasuringChoice& choice) {
    return {choice.lock_wait_s, interrupted, {}};
}

std::vector<measure::DeviceLock> lock_all(std::vector<measure::ListedDevice> devices,
                                          const measure::DeviceLock::Waiting& how) {
    // All runs lock them in the same order, so that no two runs wait for each other.
    std::ranges::sort(devices, [](const auto& left, const auto& right) {
        return left.device.board < right.device.board;
    });
    std::vector<measure::DeviceLock> locks;
    for (const measure::ListedDevice& listed : devices) {
        const std::string& name = listed.device.name;
        measure::DeviceLock::Waiting waiting = how;
        waiting.tell = [&](const std::string& holder) {
            fmt::print(stderr, "perfgate: {} is in use by {}: waiting up to {:g} s for it\n",
                       util::printable(name), holder, how.limit_s);
        };
        locks.emplace_back(listed.device.board, util::printable(name), waiting);
    }
    return locks;
}

/// In place of a bundled one of its name.
void add_workload(const model::WorkloadInfo& workload, model::WorkloadCatalogue& known) {
    std::erase_if(known, [&](const model::WorkloadInfo& other) {
        return other.bundled && other.name == workload.name;
    });
    if (const model::WorkloadInfo* other = model::find_workload(known, workload.name)) {
        throw util::InputError("{}: the workload '{}' is one of {}, too; give it another name",
                               util::printable(workload.plugin), workload.name,
                               util::printable(other->plugin));
    }
    known.push_back(workload);
}

/// Gives all devices a host for each interpreter but the first, and returns their workloads.
model::WorkloadCatalogue add_hosts(const BackendChoice& choice, OpenedBackend& opened) {
    model::WorkloadCatalogue all;
    for (std::size_t i = 1; i < choice.interpreters.size(); ++i) {
        BackendChoice only = choice;
        only.bundled = false;
        only.plugins.clear();
        only.interpreters = {choice.interpreters[i]};
        measure::Workers asked(worker_command(only, opened.name, opened.devices.front().id),
                               interrupted);
        std::set<std::string> names;
        for (const model::WorkloadInfo& workload : describe(asked).workloads) {
            add_workload(workload, all);
            names.insert(workload.name);
        }
        for (OpenedBackend::Device& device : opened.devices) {
            device.workers->add_host(worker_command(only, opened.name, device.id), names);
        }
    }
    return all;
}

/// How many interpreters start at once: each imports for seconds on a core of its own, and takes
/// the memory that its libraries want.
std::size_t most_together() {
    constexpr std::size_t most = 8;
    return std::min<std::size_t>(std::thread::hardware_concurrency(), most);
}

OpenedBackend open_devices(const BackendChoice& choice, const std::string& name, Listed listed,
                           const BeforeOpening* before) {
    OpenedBackend opened;
    opened.name = name;
    opened.chosen = choice;
    require_one_key(listed.devices);
    if (before != nullptr) {
        if (before->check) before->check(name, listed.devices.front().device);
        opened.locks = lock_all(listed.devices, before->locking);
    }
    if (const std::string& uuid = listed.devices.front().uuid; !uuid.empty()) {
        opened.visible = {uuid};
    }
    for (const measure::ListedDevice& device : listed.devices) {
        opened.devices.push_back({device.id, device.device,
                                  std::make_unique<measure::Workers>(
                                      worker_command(choice, name, device.id), interrupted)});
    }
    if (name == "cuda") opened.keeper = std::move(listed.by);
    const model::WorkloadCatalogue others = add_hosts(choice, opened);
    for (const OpenedBackend::Device& device : opened.devices) {
        if (choice.interpreters.empty()) continue;
        device.workers->start_together(most_together());
        device.workers->expect(choice.expected);
    }
    opened.capabilities = describe(*opened.devices.front().workers);
    for (const model::WorkloadInfo& other : others) {
        add_workload(other, opened.capabilities.workloads);
    }
    return opened;
}

}  // namespace

std::vector<std::string> plugins_of(const OpenedBackend& opened, const model::Plan& plan) {
    std::vector<std::string> plugins;
    for (const std::string& named : opened.chosen.plugins) plugins.push_back(plugin_file(named));
    std::set<std::string> planned;
    for (const model::PlannedSuite& suite : plan.suites) {
        for (const model::PlannedCase& each : suite.cases) planned.insert(each.spec.workload);
    }
    for (const model::WorkloadInfo& workload : opened.capabilities.workloads) {
        if (workload.bundled && planned.contains(workload.name)) plugins.push_back(workload.plugin);
    }
    return plugins;
}

std::vector<std::string> worker_command(const BackendChoice& choice, const std::string& backend,
                                        const std::string& device) {
    std::vector<std::string> command = {own_binary().string(), "worker", "--backend", backend};
    const auto add = [&](const std::string& option, const std::string& value) {
        command.push_back(option);
        command.push_back(value);
    };
    if (!device.empty()) add("--device", device);
    for (const std::string& plugin : choice.plugins) {
        const std::filesystem::path file = std::filesystem::absolute(plugin_file(plugin));
        add("--plugin", file.lexically_normal().string());
    }
    const BackendChoice::Interpreter* interpreter =
        choice.interpreters.empty() ? nullptr : &choice.interpreters.front();
    if (interpreter != nullptr) {
        for (const std::string& script : interpreter->scripts) add("--plugin", script);
    }
    if (choice.bundled) {
        for (const std::string& plugin : bundled_plugins()) add("--bundled", plugin);
    }
    if (interpreter != nullptr) {
        add("--interpreter", interpreter->file);
        for (const auto& [name, value] : choice.variables) {
            add("--env", fmt::format("{}={}", name, value));
        }
    }
    if (choice.no_cupti) command.push_back("--no-cupti");
    return command;
}

bool has_nvidia_gpu(const std::filesystem::path& root) {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    if (visible != nullptr && (*visible == '\0' || *visible == '-')) return false;
    std::error_code error;
    const std::filesystem::directory_iterator gpus(root / "proc/driver/nvidia/gpus", error);
    if (!error && gpus != std::filesystem::directory_iterator()) return true;
    return std::filesystem::exists(root / "dev/nvidia0", error);
}

namespace {

/// A backend by name, and its devices.
struct Found {
    std::string name;
    Listed listed;
};

/// `auto` takes the GPU if there is one.
Found find_devices(const BackendChoice& choice) {
    if (choice.backend != "auto") return {choice.backend, list_devices(choice, choice.backend)};
    std::string why;
    try {
        // From here on a GPU exists, so its failure is an error.
        return {"cuda", list_devices(choice, "cuda")};
    } catch (const util::InputError&) {
        throw;
    } catch (const measure::Interrupted&) {
        throw;
    } catch (const util::Error& error) {
        why = error.what();
    }
    if (has_nvidia_gpu()) {
        throw util::Error(
            "this machine has an NVIDIA GPU, and it cannot be measured: {}; --backend host "
            "measures host variants",
            why);
    }
    static std::once_flag said;
    if (choice.workers) {
        std::call_once(said, [&] {
            fmt::print(stderr,
                       "perfgate: no GPU here ({}): the host backend measures host variants\n",
                       why);
        });
    }
    return {"host", list_devices(choice, "host")};
}

}  // namespace

OpenedBackend open_backend(const BackendChoice& choice, const BeforeOpening* before) {
    Found found = find_devices(choice);
    OpenedBackend opened = open_devices(choice, found.name, std::move(found.listed), before);
    if (choice.backend != "auto" && !opened.capabilities.timing) {
        throw util::Error("backend '{}' cannot measure here: {}", choice.backend,
                          opened.capabilities.kernel_records_problem);
    }
    return opened;
}

model::Device device_of(const BackendChoice& choice) {
    return find_devices(choice).listed.devices.front().device;
}

std::size_t share_gpus(OpenedBackend& backend, const MeasuringChoice& choice, int wanted) {
    const std::string& chosen = choice.backend.devices;
    const bool named = !chosen.empty();
    std::vector<measure::ListedDevice> devices;
    if (backend.keeper) devices = devices_named(named ? chosen : "all", *backend.keeper);
    std::string& key = backend.capabilities.environment.device.key;
    std::erase_if(devices, [&](const auto& listed) { return listed.device.key != key; });
    if (wanted == model::all_gpus && devices.size() < 2) return devices.size();
    const std::size_t count =
        wanted == model::all_gpus ? devices.size() : static_cast<std::size_t>(wanted);
    if (devices.size() < count) {
        throw util::InputError(
            "a program needs {} GPUs ('gpus'), but {} {} of the same model: use a machine with "
            "enough GPUs",
            count, named ? "--devices names" : "this machine has", devices.size());
    }
    if (!named) devices.resize(count);
    if (!backend.locks.empty()) {
        // Released first, because all runs take all of their locks in the same order.
        backend.locks.clear();
        backend.locks = lock_all(devices, waiting_of(choice));
    }
    devices.resize(count);
    backend.visible.clear();
    for (const measure::ListedDevice& listed : devices) backend.visible.push_back(listed.uuid);
    key += fmt::format("-x{}", count);
    return count;
}

namespace {

/// A file of a suite in the checkout.
std::string in_checkout(const suite::PythonFile& python, const Checkout& checkout) {
    const std::filesystem::path file = python.file;
    const model::Placement placement = placement_of(checkout, python.suite);
    return (std::filesystem::path(placement.folder(file.parent_path().native())) / file.filename())
        .native();
}

struct Script {
    std::string named;        ///< as its suite names it
    std::string interpreter;  ///< absolute path
};
/// By where they are.
using Scripts = std::map<std::string, Script>;

Scripts add_scripts(const std::vector<std::string>& suites, const Checkout& checkout,
                    BackendChoice& choice) {
    Scripts scripts;
    for (const suite::PythonFile& python : suite::python_files(suites)) {
        const std::string file = in_checkout(python, checkout);
        std::error_code ignored;
        if (!std::filesystem::exists(file, ignored)) {
            if (!checkout.root.empty()) continue;  // this side has none of its cases
            throw util::InputError("{}: there is no file {}", python.place, util::printable(file));
        }
        const std::string found = util::found_on_path(python.interpreter).string();
        if (found.empty()) {
            throw util::InputError(
                "{}: there is no program '{}'; 'interpreter' names the Python that has the file's "
                "modules",
                python.place, util::printable(python.interpreter));
        }
        const auto [by, added] = scripts.try_emplace(file, Script{python.file, found});
        if (!added) {
            if (by->second.interpreter == found) continue;
            throw util::InputError(
                "{}: its interpreter is {}, and another entry has {} for the same file: a run has "
                "each workload once; measure the suites in separate runs",
                python.place, util::printable(found), util::printable(by->second.interpreter));
        }
        const auto known = std::ranges::find_if(choice.interpreters, [&](const auto& interpreter) {
            return interpreter.file == found;
        });
        if (known == choice.interpreters.end()) {
            choice.interpreters.push_back({found, {file}});
        } else {
            known->scripts.push_back(file);
        }
    }
    choice.variables = checkout.variables;
    return scripts;
}

OpenedBackend open_with_scripts(const MeasuringChoice& choice, BackendChoice chosen,
                                const Scripts& scripts, const BeforeOpening* before) {
    chosen.expected = choice.verify_only ? 1 : choice.processes.value_or(usual_processes);
    OpenedBackend backend = open_backend(chosen, before);
    for (model::WorkloadInfo& workload : backend.capabilities.workloads) {
        const auto named = scripts.find(workload.plugin);
        if (named != scripts.end()) workload.plugin = named->second.named;
    }
    return backend;
}

bool is_same_file(const std::string& left, const std::string& right) {
    std::error_code ignored;
    return std::filesystem::equivalent(left, right, ignored);
}

/// With what the suites name; the bundled plugins only if a suite measures workloads of plugins.
BackendChoice with_plugins(BackendChoice choice, const std::vector<std::string>& suites) {
    bool any_workload = false;
    bool any_worker = false;
    for (const std::string& suite_file : suites) {
        const suite::NeedsOfSuite needs = suite::needs_of(suite_file);
        any_workload = any_workload || !needs.workloads.empty();
        any_worker = any_worker || needs.workers;
        for (const suite::NamedInSuite& named : needs.plugins) {
            if (!choice.of_suites) break;
            const std::string file = plugin_file(suite::file_of_plugin(named.name, suite_file));
            std::error_code ignored;
            if (!std::filesystem::exists(file, ignored)) {
                suite::name_in(suite_file);  // what is wrong with its list comes first
                throw util::InputError("{}: there is no plugin {}; build it first", named.place,
                                       util::printable(file));
            }
            const bool known = std::ranges::any_of(choice.plugins, [&](const std::string& other) {
                return is_same_file(plugin_file(other), file);
            });
            if (!known) choice.plugins.push_back(file);
        }
    }
    choice.bundled = choice.bundled && any_workload;
    choice.workers = any_worker;
    return choice;
}

model::WorkloadCatalogue workloads_of(const BackendChoice& choice) {
    measure::Workers workers(worker_command(choice, "host", ""), interrupted);
    return describe(workers).workloads;
}

/// What can be known of a run before it has its devices.
class FirstLook {
  public:
    FirstLook(const MeasuringChoice& choice, const BackendChoice& chosen,
              const std::vector<std::string>& files)
        : choice_(choice) {
        // Python's workloads may be known to its interpreter alone.
        std::vector<std::string> others;
        for (const std::string& file : files) {
            const bool python = !suite::python_files({file}).empty();
            has_python_ = has_python_ || python;
            if (!python) others.push_back(file);
            if (python) names_.push_back(suite::name_in(file));
        }
        const bool plugins = std::ranges::any_of(
            others, [](const auto& file) { return !suite::needs_of(file).workloads.empty(); });
        BackendChoice without_python = chosen;
        without_python.interpreters.clear();
        suites_ = suite::load_suites(
            others, plugins ? workloads_of(without_python) : model::WorkloadCatalogue());
        for (const suite::Suite& suite : suites_) names_.push_back(suite.name);
    }

    void check(const std::string& backend, model::Device device,
               const CheckBaselines& check_baselines) const {
        suite::PlanOptions options;
        options.target = backend == "cuda" ? model::Target::cuda : model::Target::host;
        options.device_key = device.key;
        options.compute_capability = device.compute_capability;
        options.filters = choice_.filters;
        options.tags = choice_.tags;
        if (!has_python_ && !suites_.empty()) {
            const std::vector<suite::CaseOfSuites> cases = suite::cases_to_run(suites_, options);
            const auto gpus_of = [&](const suite::CaseOfSuites& at) {
                return suites_[at.suite].cases[at.index].subject->gpus();
            };
            const int gpus = cases.empty() ? 1 : gpus_of(cases.front());
            if (gpus == model::all_gpus) return;  // how many, only the open backend knows
            if (gpus > 1) device.key += fmt::format("-x{}", gpus);
        }
        if (check_baselines) check_baselines(device, names_);
    }

  private:
    const MeasuringChoice& choice_;
    std::vector<suite::Suite> suites_;
    std::vector<std::string> names_;
    bool has_python_ = false;
};

}  // namespace

OpenedBackend open_to_measure(const MeasuringChoice& choice, const std::vector<std::string>& suites,
                              const CheckBaselines& check_baselines, const Checkout& checkout) {
    std::vector<std::string> needed = suites;
    if (!choice.resume.empty()) needed.push_back(choice.resume);
    for (const std::string& file : needed) {
        std::error_code ignored;
        if (std::filesystem::exists(file, ignored)) continue;
        throw util::InputError("{}: No such file or directory", util::printable(file));
    }
    const auto since = std::chrono::steady_clock::now();
    catch_interruptions();
    if (choice.resume.empty()) measure::remove_journal(choice.out);
    BackendChoice chosen = with_plugins(choice.backend, suites);
    const Scripts scripts = add_scripts(suites, checkout, chosen);
    const FirstLook first_look(choice, chosen, suites);
    const BeforeOpening before{waiting_of(choice),
                               [&](const std::string& backend, const model::Device& device) {
                                   first_look.check(backend, device, check_baselines);
                               }};
    OpenedBackend backend = open_with_scripts(choice, chosen, scripts, &before);
    backend.since = since;
    return backend;
}

OpenedBackend open_beside(const MeasuringChoice& choice, const std::vector<std::string>& suites,
                          const Checkout& checkout) {
    BackendChoice chosen = choice.backend;
    const Scripts scripts = add_scripts(suites, checkout, chosen);
    return open_with_scripts(choice, chosen, scripts, nullptr);
}

measure::Workers& first_workers(OpenedBackend& backend) {
    return *backend.devices.front().workers;
}

std::unique_ptr<measure::Workers> plain_workers(const OpenedBackend& backend) {
    BackendChoice plain = backend.chosen;
    plain.interpreters.clear();
    plain.plugins.clear();
    plain.bundled = false;
    return std::make_unique<measure::Workers>(
        worker_command(plain, backend.name, backend.devices.front().id), interrupted);
}

model::BoardState board_state(measure::Workers& workers) {
    const auto answer = workers.ask(measure::BoardStateRequest{}, 10, nullptr);
    const auto* state =
        answer.reply ? std::get_if<measure::BoardStateReply>(&*answer.reply) : nullptr;
    return state ? state->state : model::BoardState{};
}

model::Ceilings measure_ceilings(measure::Workers& workers) {
    const auto answer = workers.ask(measure::CeilingsRequest{}, 30, nullptr);
    const auto* reply =
        answer.reply ? std::get_if<measure::CeilingsReply>(&*answer.reply) : nullptr;
    if (reply != nullptr) return reply->ceilings;
    model::Ceilings none;
    none.problem = why_no_reply(answer);
    return none;
}

model::WorkloadCatalogue load_workload_catalogue(const std::vector<std::string>& plugins) {
    BackendChoice choice;
    choice.plugins = plugins;
    return workloads_of(choice);
}

model::WorkloadCatalogue load_workloads_of(const std::vector<std::string>& suites,
                                           const std::vector<std::string>& plugins) {
    BackendChoice choice;
    choice.plugins = plugins;
    return workloads_of(with_plugins(choice, suites));
}

std::vector<suite::Suite> read_suites(const std::vector<std::string>& files,
                                      const std::vector<std::string>& plugins) {
    std::string absent;
    for (const std::string& file : files) {
        for (const suite::NamedInSuite& named : suite::needs_of(file).plugins) {
            const std::string own = plugin_file(suite::file_of_plugin(named.name, file));
            const auto is_own = [&](const std::string& other) {
                return is_same_file(plugin_file(other), own);
            };
            if (std::ranges::any_of(plugins, is_own)) continue;
            suite::name_in(file);  // what is wrong with its list comes first
            absent += fmt::format(
                "{}{}: only a verb that measures loads the suite's plugin {}; add --plugin {}",
                absent.empty() ? "" : "\n", named.place, util::printable(named.name),
                util::shell_word(
                    util::printable(std::filesystem::path(own)
                                        .lexically_proximate(std::filesystem::current_path())
                                        .native())));
        }
    }
    if (!absent.empty()) throw util::InputError(absent);
    return suite::load_suites(files, load_workload_catalogue(plugins));
}

}  // namespace perfgate::runner
