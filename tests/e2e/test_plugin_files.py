# SPDX-License-Identifier: Apache-2.0
"""Which files make a plugin, by the names that build systems give them; what is absent is a warning
that names it."""

import shutil
import subprocess

import tool

# A CUDA module needs no CUDA to be found and loaded.
SOURCE = """
#include "perfgate.hpp"
using namespace perfgate::sdk;
struct Nothing : Instance {
    explicit Nothing(const Values&) {}
    void fill(std::uint64_t) override {}
    void launch(void*) override {}
    Verification verify() override { return {true, "nothing to check"}; }
};
static Plugin plugin() {
    Variant simple = cuda_variant<Nothing>(VARIANT);
    if (!FUNCTIONS) simple.create = nullptr;
    Plugin two = one_workload("two", {}, {simple});
    two.cuda_module = MODULE;
    return two;
}
PERFGATE_PLUGIN(plugin);
"""


class PluginFiles(tool.Case):
    def setUp(self):
        super().setUp()
        self.write("two.cpp", SOURCE)
        self.write("two.yaml", "name: two\nworkloads:\n  - {workload: two, variants: [simple], "
                               "tolerances: {gpu_time: 3%}}\n")

    def make(self, file, functions, variant="simple", module="two_cuda"):
        (self.folder / file).parent.mkdir(exist_ok=True)
        subprocess.run(["c++", "-std=c++17", "-shared", "-fPIC", "-I", tool.SOURCE / "harness/sdk",
                        f"-DFUNCTIONS={functions}", f'-DVARIANT="{variant}"',
                        f'-DMODULE="{module}"', "-o", file, "two.cpp"],
                       cwd=self.folder, check=True)

    def validate(self, plugin):
        done = self.run_tool("validate", "two.yaml", "--plugin", plugin)
        self.assertEqual("two.yaml: ok, 1 case (1 cuda, 0 host)\n", done.stdout)
        return done.stderr

    def test_both_modules_with_and_without_a_prefix(self):
        self.make("a/two.so", 0)
        self.make("a/two_cuda.so", 1)
        self.assertEqual("", self.validate("a/two.so"))
        for first, second in (("libtwo.so", "libtwo_cuda.so"), ("libtwo.so", "two_cuda.so"),
                              ("two.so", "libtwo_cuda.so")):
            folder = self.folder / "b"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            shutil.copy(self.folder / "a/two.so", folder / first)
            shutil.copy(self.folder / "a/two_cuda.so", folder / second)
            with self.subTest(first, second=second):
                self.assertEqual("", self.validate("b/two.so"))
                self.assertEqual("", self.validate(f"b/{first}"))
        self.assertIn("b/other.so", self.run_tool("validate", "two.yaml", "--plugin", "b/other.so",
                                                  code=(2, 3)).stderr)

    def test_what_is_absent_is_a_warning_with_its_name(self):
        self.make("two.so", 0)
        self.assert_one_line(self.validate("two.so"), "perfgate: warning: two.yaml: 1 case is not "
                             "built: two_cuda.so is not beside two.so", "CUDA toolkit")
        self.make("two_cuda.so", 1, variant="other")
        self.assert_one_line(self.validate("two.so"), "two_cuda.so does not have it")
        self.make("two.so", 0, module="")
        self.assert_one_line(self.validate("two.so"), "two.so lacks its functions and names no")
        listed = self.run_tool("list", "two.yaml", "--plugin", "two.so").stdout
        self.assertIn("not built: two.so lacks its functions", listed)


if __name__ == "__main__":
    tool.main()
