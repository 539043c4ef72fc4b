// SPDX-License-Identifier: Apache-2.0
// The runner starts its own binary as workers (`worker --backend … --device … --plugin …`): here
// that is this test program, whose workers measure with a FakeBackend. The names of the plugins,
// which are not loaded, say how it behaves.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "measure/worker.hpp"
#include "measure/worker_process.hpp"
#include "unit/fake_backend.hpp"
#include "util/error.hpp"

namespace {

using namespace perfgate;

struct Arguments {
    std::string device;
    std::set<std::string> plugins;  ///< their stems
};

Arguments arguments_of(int argc, char** argv) {
    Arguments arguments;
    for (int i = 2; i + 1 < argc; ++i) {
        const std::string_view option = argv[i];
        if (option == "--device") arguments.device = argv[i + 1];
        if (option == "--plugin") {
            arguments.plugins.insert(std::filesystem::path(argv[i + 1]).stem().string());
        }
    }
    return arguments;
}

/// Two boards of one kind and one of another.
std::vector<measure::ListedDevice> list(const std::string& wanted) {
    const auto device = [](const std::string& id, const std::string& key) {
        measure::ListedDevice listed;
        listed.id = id;
        listed.device.key = key;
        listed.device.name = "Fake " + key;
        listed.device.board = "board-" + id;
        listed.uuid = "GPU-" + id;
        return listed;
    };
    if (wanted == "all") return {device("0", "fake"), device("1", "fake")};
    if (wanted == "mixed") return {device("0", "fake"), device("2", "other")};
    return {device("0", "fake")};
}

class RunnersBackend final : public measure::fakes::FakeBackend {
  public:
    explicit RunnersBackend(const Arguments& arguments) : arguments_(arguments) {
        const bool slow = arguments.plugins.contains("slow");
        measure::fakes::FakeVariant variant;
        // Processes are a little apart, as real ones are: by up to 0.2 %.
        const double apart = 0.0004 * (static_cast<double>(getpid() * 7 % 11) - 5);
        variant.time_ns = (slow ? 12000 : 10000) * (1 + apart);
        variant.launch.kernels = {measure::fakes::kernel("kernel")};
        if (arguments.plugins.contains("recompiled")) variant.launch.kernels[0].code = "0ther";
        variants["first"] = variant;
        variant.correct = !arguments.plugins.contains("wrong");
        variant.ignores_work = arguments.plugins.contains("workless");
        if (arguments.plugins.contains("narrow")) variant.facts.unsupported = "too narrow";
        if (!arguments.plugins.contains("old")) variants["second"] = variant;
    }

    std::vector<measure::Diagnosis> diagnose() override {
        using Level = measure::Diagnosis::Level;
        if (arguments_.plugins.contains("troubled")) return {{Level::problem, "GPU", "hot", ""}};
        return {{Level::ok, "GPU", "Fake", ""}};
    }

    measure::Capabilities capabilities() override {
        if (arguments_.plugins.contains("undescribed")) throw util::Error("no description");
        if (arguments_.plugins.contains("dying")) std::raise(SIGKILL);
        measure::Capabilities result = FakeBackend::capabilities();
        result.environment.device = list(arguments_.device).front().device;
        result.environment.device.board = "board-" + arguments_.device;
        result.timing = !arguments_.plugins.contains("blind");
        return result;
    }
    model::BoardState board_state() override {
        model::BoardState state;
        state.temperature_c = 40;
        return state;
    }
    /// Of a kernel that "slow" keeps waiting at its second line.
    model::CaseCode machine_code(measure::Case& opened, model::Cache cache) override {
        if (arguments_.plugins.contains("opaque")) return FakeBackend::machine_code(opened, cache);
        if (arguments_.plugins.contains("dawdling")) {
            std::this_thread::sleep_for(std::chrono::seconds(60));
        }
        const bool slow = arguments_.plugins.contains("slow");
        const auto instruction = [](std::int64_t at, const char* text, std::int64_t line,
                                    std::int64_t samples) {
            return model::Instruction{
                at, text, {"k.cu", line}, {{{"long_scoreboard", samples}}, samples / 2}};
        };
        model::CaseCode code;
        code.kernels = {{"kernel",
                         arguments_.plugins.contains("recompiled") ? "0ther" : "c0de",
                         {{instruction(0, slow ? "LDG.E R2" : "LDG.E.128 R2", 4, 1000),
                           instruction(16, "FADD R4, R3, R3", 5, slow ? 9000 : 1000)},
                          {}},
                         10}};
        return code;
    }
    model::Ceilings ceilings() override { return {3e12, {{"f32", 5e13}}, ""}; }

  private:
    Arguments arguments_;
};

int serve(const Arguments& arguments) {
    std::signal(SIGPIPE, SIG_IGN);
    measure::BackendSource source;
    source.list = list;
    source.open = [&](const auto&) { return std::make_unique<RunnersBackend>(arguments); };
    return measure::serve(source, STDIN_FILENO, measure::reply_fd);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "worker") return serve(arguments_of(argc, argv));
    testing::InitGoogleTest(&argc, argv);
    std::signal(SIGPIPE, SIG_IGN);  // as the program does
    return RUN_ALL_TESTS();
}
