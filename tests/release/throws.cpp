// SPDX-License-Identifier: Apache-2.0
// A plugin for ci/test-release, built there by each system's own compiler: one variant works and
// uses that system's C++ library, the others throw what perfgate must report.
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "perfgate.hpp"
using namespace perfgate::sdk;

class Words : public Instance {
  public:
    explicit Words(std::string variant) : variant_(std::move(variant)) {}
    void fill(std::uint64_t seed) override { seed_ = seed; }
    void launch(void*) override {
        if (variant_ == "throws") throw std::runtime_error("thrown by the plugin");
        if (variant_ == "throws_system_error") {
            throw std::system_error(std::make_error_code(std::errc::no_space_on_device),
                                    "thrown by the plugin");
        }
        if (variant_ == "throws_number") throw 7;
        try {
            if (std::regex_match("x", std::regex("("))) found_ = 0;
        } catch (const std::regex_error&) {
            std::ostringstream text;
            text << "seed " << seed_ << std::filesystem::path("/a/b").filename();
            found_ = text.str().size();
        }
    }
    Verification verify() override { return {found_ > 0, "words"}; }

  private:
    std::string variant_;
    std::uint64_t seed_ = 0;
    std::size_t found_ = 0;
};

static Plugin plugin() {
    Workload words;
    words.name = "words";
    for (const char* name : {"works", "throws", "throws_system_error", "throws_number"}) {
        Variant variant;
        variant.name = name;
        variant.help = "a plugin of another compiler";
        variant.target = Target::host;
        variant.create = [name](const Values&) { return std::make_unique<Words>(name); };
        words.variants.push_back(variant);
    }
    Plugin made;
    made.name = "words";
    made.workloads = {words};
    return made;
}
PERFGATE_PLUGIN(plugin);
