# SPDX-License-Identifier: Apache-2.0
"""An installed tree works from any folder, and a plugin builds against it as the README says."""

import os
import re
import shutil
import subprocess

import tool

SCALE = """
#include <vector>

#include "perfgate.hpp"
using namespace perfgate::sdk;

class Scale : public Instance {
  public:
    explicit Scale(const Values& values) : x_(static_cast<std::size_t>(values.integer("n"))) {}
    void fill(std::uint64_t seed) override {
        for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = static_cast<double>(seed % 7 + i);
        y_.assign(x_.size(), -1);
    }
    void launch(void*) override {
        for (std::size_t i = 0; i < x_.size(); ++i) y_[i] = 2 * x_[i];
    }
    Verification verify() override {
        for (std::size_t i = 0; i < x_.size(); ++i)
            if (y_[i] != 2 * x_[i]) return {false, "element " + std::to_string(i)};
        return {true, "all elements"};
    }

  private:
    std::vector<double> x_, y_;
};

static Plugin plugin() {
    Variant simple{.name = "simple", .help = "a loop", .target = Target::host};
    simple.create = [](const Values& values) { return std::make_unique<Scale>(values); };
    Workload scale;
    scale.name = "scale";
    scale.params = {Param::integer("n", "elements", 1, 1 << 30)};
    scale.variants = {simple};
    return {.name = "scale", .cuda_module = "", .workloads = {scale}};
}
PERFGATE_PLUGIN(plugin);
"""


class Install(tool.Case):
    def command(self, *words):
        done = subprocess.run([str(word) for word in words], cwd=self.folder, capture_output=True,
                              text=True, timeout=tool.PATIENCE_S)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return done.stdout

    def test_from_any_folder(self):
        first, prefix = self.folder / "first", self.folder / "any where"
        self.command("cmake", "--install", os.environ["PERFGATE_BUILD_DIR"], "--prefix", first)
        shutil.move(first, prefix)
        perfgate = prefix / "bin/perfgate"
        listed = self.command("env", "-i", "PATH=/usr/bin:/bin", perfgate, "list",
                              prefix / "share/perfgate/suites/gemm.yaml")
        self.assertIn("gemm/reference[", listed)
        self.assertIn("gemm/cublas[", listed)

        self.write("scale/scale.cpp", SCALE)
        cmake = re.search(r"```cmake\n(.*?)```", (tool.SOURCE / "kernels/README.md").read_text(),
                          re.DOTALL).group(1)
        self.write("scale/CMakeLists.txt",
                   "cmake_minimum_required(VERSION 3.25)\nproject(scale CXX)\n" + cmake +
                   'set_target_properties(scale PROPERTIES PREFIX "")\n')
        self.command("cmake", "-S", "scale", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}")
        self.command("cmake", "--build", "build")
        self.write("scale.yaml", "name: scale\ndefaults: {metrics: [host_time], tolerances: "
                                 "{host_time: 50%}, time_budget: 10ms}\nworkloads:\n"
                                 "  - {workload: scale, variants: [simple], params: {n: 1000}}\n")
        self.command(perfgate, "run", "scale.yaml", "--backend", "host", "--plugin",
                     "build/scale.so")
        case = self.read_json("perfgate-out/run.json")["suites"][0]["cases"][0]
        self.assertEqual("measured", case["status"])


if __name__ == "__main__":
    tool.main()
