# SPDX-License-Identifier: Apache-2.0
"""An installed tree works from any folder, and plugins and the bundled kernels build against it. No file
of the build tree or an installed one looks for libraries where others may put them."""

import os
import pathlib
import re
import shutil
import stat
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


# Templates are compiled where they are used.
USES = {
    "perfgate.hpp": """
using namespace perfgate::sdk;
struct Use : Instance {
    explicit Use(const Values& values) : x(values.size("n")) {}
    void fill(std::uint64_t seed) override { x.fill(seed), x.poison(), y.fill(seed, 2); }
    void launch(void*) override {}
    Verification verify() override {
        if (relative_error(x, std::vector<double>(x.size())).passed) return elementwise(y, y);
        return elementwise(x, [&](std::size_t i) { return 2 * x.filled(i); });
    }
    HostBuffer<float> x;
    HostBuffer<short> y{3};
};
static Plugin plugin() { return one_workload("use", {}, {host_variant<Use>("use")}); }
PERFGATE_PLUGIN(plugin);
""",
    "perfgate_cuda.hpp": """
using namespace perfgate::sdk;
Verification use(DeviceBuffer<float>& x, HostBuffer<double>& y) {
    x.fill(1), x.poison(), x.write(x.read());
    return elementwise(x, y);
}
""",
}


def elf_files(folder):
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_symlink() or not path.is_file() or path.suffix == ".o":
            continue
        with path.open("rb") as file:
            head = file.read(18)
        # Programs and shared objects: e_type 2 and 3.
        if head[:4] == b"\x7fELF" and head[16] in (2, 3):
            yield path


def dynamic(file, tag):
    """The texts of a kind of entry in the dynamic section."""
    done = subprocess.run(["readelf", "--dynamic", "--wide", file], capture_output=True, text=True,
                          check=True)
    return re.findall(rf"\({tag}\).*?\[(.*)\]", done.stdout)


def may_be_written_by_others(folder):
    """Whether another user can put files there, now or after making the folder itself."""
    place = pathlib.Path(folder)
    while not place.exists():
        place = place.parent
    return place.stat().st_mode & stat.S_IWOTH != 0


def objection(file, entry):
    """What is wrong with an entry of a RPATH or RUNPATH; empty: nothing."""
    if entry == "":
        return "empty: the working directory"
    folder = re.sub(r"^\$(ORIGIN|\{ORIGIN\})(?=/|$)", str(file.parent), entry)
    if not folder.startswith("/"):
        return "relative to the working directory"
    if may_be_written_by_others(os.path.normpath(folder)):
        return "others can write there"
    return ""


def objections(files):
    return [f"{file}: {tag} entry '{entry}': {why}"
            for file in files for tag in ("RPATH", "RUNPATH") for path in dynamic(file, tag)
            for entry in dict.fromkeys(path.split(":")) if (why := objection(file, entry))]


class LibraryPaths(tool.Case):
    BUILD = pathlib.Path(os.environ["PERFGATE_BUILD_DIR"])

    def made(self):
        folders = [self.BUILD / "bin", self.BUILD / "lib", self.BUILD / "tests"]
        return [file for folder in folders for file in elf_files(folder)]

    def test_of_the_build_tree(self):
        files = self.made()
        self.assertIn(pathlib.Path(tool.PERFGATE).name, [file.name for file in files])
        self.assertEqual([], objections(files))

    def test_of_an_installed_tree(self):
        prefix = self.folder / "prefix"
        subprocess.run(["cmake", "--install", self.BUILD, "--prefix", prefix], check=True,
                       capture_output=True)
        files = list(elf_files(prefix))
        self.assertIn("perfgate", [file.name for file in files])
        self.assertEqual([], objections(files))

    def test_what_is_wrong_is_found(self):
        open_to_all = self.folder / "open"
        open_to_all.mkdir()
        open_to_all.chmod(0o777)
        self.write("empty.cpp", "int x;\n")
        for entry, found in (("$ORIGIN/lib::", "empty"), ("lib", "relative"), ("$ORIGIN", ""),
                             (str(open_to_all), "others can write"),
                             (str(open_to_all / "absent/lib"), "others can write")):
            with self.subTest(entry):
                file = self.folder / "lib.so"
                subprocess.run(["c++", "-shared", "-fPIC", "-o", file, self.folder / "empty.cpp",
                                f"-Wl,-rpath,{entry}"], check=True)
                told = objections([file])
                self.assertEqual(bool(found), bool(told), told)
                if found:
                    self.assertIn(found, told[0])

    def test_a_library_in_the_working_directory_is_not_loaded(self):
        self.write("planted.cpp", "#include <cstdio>\n#include <cstdlib>\n"
                                  "__attribute__((constructor)) static void planted() {\n"
                                  '    std::fputs("planted library\\n", stderr);\n'
                                  "    std::_Exit(7);\n}\n")
        planted = self.folder / "planted.so"
        subprocess.run(["c++", "-shared", "-fPIC", "-o", planted, self.folder / "planted.cpp"],
                       check=True)
        wanted = dynamic(tool.PERFGATE, "NEEDED")
        self.assertTrue(wanted)
        for name in wanted:
            shutil.copy(planted, self.folder / name)
        self.assertNotIn("planted", self.run_tool("--version").stderr)
        plugin = self.run_tool("list", "--plugin", tool.PLUGINS / "probe_base.so",
                               tool.SOURCE / "suites/transpose.yaml")
        self.assertNotIn("planted", plugin.stderr)


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
        self.assertRegex(self.command(perfgate, "doctor", "--backend", "host"), "(?m)^ok +host ")
        for file in elf_files(prefix):
            if file.name != "libperfgate_cuda.so":  # its CUPTI is the machine's
                self.assertNotIn("not found", self.command("ldd", file))
        for script in ("bash-completion/completions/perfgate", "zsh/site-functions/_perfgate",
                       "fish/vendor_completions.d/perfgate.fish"):
            self.assertIn("perfgate", (prefix / "share" / script).read_text())
        self.assertIn("\n.SH EXAMPLES\n", (prefix / "share/man/man1/perfgate-run.1").read_text())

        self.write("scale/scale.cpp", SCALE)
        for folder, how in (("build", "perfgate_plugin(scale SOURCES scale.cpp)\n"),
                            # What any other build makes: libscale.so.
                            ("other", "add_library(scale SHARED scale.cpp)\n"
                                      "target_link_libraries(scale PRIVATE perfgate::sdk)\n")):
            self.write("scale/CMakeLists.txt",
                       "cmake_minimum_required(VERSION 3.25)\nproject(scale LANGUAGES CXX)\n"
                       "find_package(perfgate 0.2 REQUIRED)\n" + how)
            self.command("cmake", "-S", "scale", "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}",
                         "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
            self.command("cmake", "--build", folder)
        self.assertIn(" -O3 ", (self.folder / "build/compile_commands.json").read_text())
        self.assertTrue((self.folder / "other/libscale.so").exists())
        self.write("scale.yaml", "name: scale\ndefaults: {metrics: [host_time], tolerances: "
                                 "{host_time: 50%}, time_budget: 10ms, cache: hot}\nworkloads:\n"
                                 "  - {workload: scale, variants: [simple], params: {n: 1000}}\n")
        for plugin in ("build/scale.so", "other/libscale.so", "other/scale.so"):
            self.command(perfgate, "run", "scale.yaml", "--backend", "host", "--plugin", plugin)
            case = self.read_json("perfgate-out/run.json")["suites"][0]["cases"][0]
            self.assertEqual("measured", case["status"])

    def test_other_versions_are_refused(self):
        prefix = tool.installed(type(self))
        for version, found in (("0.2", True), ("0.2.0", True), ("0.1", False), ("0.3", False)):
            self.write("version/CMakeLists.txt",
                       "cmake_minimum_required(VERSION 3.25)\nproject(version LANGUAGES NONE)\n"
                       f"find_package(perfgate {version} QUIET)\n"
                       f"if(NOT perfgate_FOUND STREQUAL {int(found)})\n"
                       '  message(FATAL_ERROR "${perfgate_FOUND}")\nendif()\n')
            with self.subTest(version):
                self.command("cmake", "-S", "version", "-B", f"b{version}",
                             f"-DCMAKE_PREFIX_PATH={prefix}")

    def test_the_bundled_kernels_build_by_themselves(self):
        prefix = tool.installed(type(self))
        self.command("cmake", "-S", tool.SOURCE / "kernels", "-B", "kernels", "-G", "Ninja",
                     f"-DCMAKE_PREFIX_PATH={prefix}", "-DPERFGATE_CUDA=OFF")
        self.command("cmake", "--build", "kernels", "--target", "transpose", "launch")
        self.assertTrue((self.folder / "kernels/lib/perfgate/plugins/transpose.so").exists())

    def test_what_a_plugin_may_not_be_is_said(self):
        prefix = tool.installed(type(self))
        for call, said in (("scale SOURCES scale.cu", "needs a CUDA compiler"),
                           ("Scale SOURCES scale.cpp", "not a valid name"),
                           ("scale scale.cpp", "is after no keyword"),
                           ("scale LIBRARIES m", "SOURCES is missing"),
                           ("scale SOURCES a.cpp CUDA_SOURCES b.cu", "scale_cuda.so is not built")):
            self.write("said/CMakeLists.txt",
                       "cmake_minimum_required(VERSION 3.25)\nproject(said LANGUAGES CXX)\n"
                       f"find_package(perfgate REQUIRED)\nperfgate_plugin({call})\n")
            self.write("said/a.cpp", "")
            done = subprocess.run(["cmake", "-S", "said", "-B", "said/build",
                                   f"-DCMAKE_PREFIX_PATH={prefix}"], cwd=self.folder,
                                  capture_output=True, text=True)
            with self.subTest(call):
                self.assertIn(said, " ".join(done.stderr.split()))


FLAGS = ["-Wall", "-Wextra", "-Wconversion", "-Werror", "-fsyntax-only"]


class Headers(tool.Case):
    def test_of_the_sdk_compile_alone_without_a_warning(self):
        headers = sorted(path.name for path in (tool.SOURCE / "harness/sdk").glob("*.h*"))
        self.assertEqual(5, len(headers))
        cuda = pathlib.Path("/usr/local/cuda/include")
        compilers = [name for name in ("g++", "clang++") if shutil.which(name)]
        for header in headers:
            if header == "perfgate_cuda.hpp" and not cuda.is_dir():
                continue
            self.write("use.cpp", f'#include "{header}"\n' + USES.get(header, ""))
            for compiler in compilers:
                for standard in ("c++17", "c++20"):
                    with self.subTest(header, compiler=compiler, standard=standard):
                        done = subprocess.run(
                            [compiler, f"-std={standard}", *FLAGS, "-I",
                             tool.SOURCE / "harness/sdk", "-isystem", cuda, "use.cpp"],
                            cwd=self.folder, capture_output=True, text=True)
                        self.assertEqual("", done.stderr)


class Release(tool.Case):
    RELEASE = tool.SOURCE / "ci/release"

    def setUp(self):
        super().setUp()
        for program in ("zstd", "dpkg-deb", "readelf"):
            if not shutil.which(program):
                self.skipTest(f"no {program}")

    def tree(self, name, when, mask):
        """A small tree; the same content, made at another time with other rights in another order."""
        files = [("bin/perfgate", "#!/bin/sh\necho perfgate 9.9.9\n"), ("share/perfgate/LICENSE", "a licence"),
                 ("share/perfgate/suites/é b.yaml", "name: b"), ("lib/perfgate/plugins/a.so", "a"),
                 ("lib/perfgate/python/perfgate/__init__.py", "")]
        before = os.umask(mask)
        for path, text in files if mask else reversed(files):
            self.write(f"{name}/{path}", text)
            os.utime(self.folder / name / path, (when, when))
        os.umask(before)
        (self.folder / name / "bin/perfgate").chmod(0o700 if mask else 0o755)
        return self.folder / name

    def pack(self, tree, out):
        subprocess.run([self.RELEASE, "--pack", tree, "perfgate-9.9.9-linux-x86_64", "9.9.9", out], check=True,
                       capture_output=True, env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
        return {path.name: path.read_bytes() for path in out.iterdir()}

    def test_the_same_tree_gives_the_same_bytes(self):
        one = self.pack(self.tree("one", 1000000000, 0o022), self.folder / "out one")
        other = self.pack(self.tree("an/other", 1600000000, 0o077), self.folder / "other")
        self.assertEqual({"perfgate-9.9.9-linux-x86_64.tar.gz", "perfgate-9.9.9-linux-x86_64.tar.zst",
                          "perfgate_9.9.9_amd64.deb", "perfgate-9.9.9-py3-none-manylinux_2_35_x86_64.whl"}, set(one))
        for name in one:
            self.assertTrue(one[name] == other[name], name)
        self.write("one/share/perfgate/LICENSE", "another licence")
        self.assertFalse(any(one[name] == bytes_ for name, bytes_ in
                             self.pack(self.folder / "one", self.folder / "changed").items()))

    def test_archives_and_package_hold_the_tree(self):
        out = self.folder / "out"
        self.pack(self.tree("tree", 1000000000, 0o077), out)
        for name in ("tar.gz", "tar.zst"):
            target = self.folder / name
            target.mkdir()
            subprocess.run(["tar", "-xf", out / f"perfgate-9.9.9-linux-x86_64.{name}", "-C", target], check=True)
            binary = target / "perfgate-9.9.9-linux-x86_64/bin/perfgate"
            self.assertEqual("perfgate 9.9.9\n", subprocess.check_output([binary], text=True))
            self.assertEqual(0o755, stat.S_IMODE(binary.stat().st_mode))
        listed = subprocess.check_output(["dpkg-deb", "--contents", out / "perfgate_9.9.9_amd64.deb"], text=True)
        self.assertRegex(listed, r"(?m)^-rwxr-xr-x root/root .* \./usr/bin/perfgate$")
        self.assertRegex(listed, r"(?m)^-rw-r--r-- root/root .* \./usr/share/doc/perfgate/copyright$")

    def test_what_the_container_file_runs_installs_the_package(self):
        """Not what a builder of images does with it: none is here."""
        out = self.folder / "out"
        self.pack(self.tree("tree", 1000000000, 0o022), out)
        lines = [line.split(maxsplit=1) for line in (tool.SOURCE / "ci/Containerfile").read_text().splitlines()
                 if line and not line.startswith("#")]
        (copied,), (run,) = ([text.split() if which == "COPY" else text for word, text in lines if word == which]
                             for which in ("COPY", "RUN"))
        system = self.folder / "system"
        for folder in ("tmp", "var/lib/dpkg/info", "var/lib/dpkg/updates"):
            (system / folder).mkdir(parents=True)
        (system / "var/lib/dpkg/status").touch()
        package, = out.glob(copied[0])
        self.assertEqual("/tmp/", copied[1])
        shutil.copy(package, system / "tmp")
        # What dpkg does in the image, here in a folder.
        script = f'dpkg() {{ command dpkg --root="{system}" --force-not-root --force-depends "$@"; }}\n'
        done = subprocess.run(["bash", "-euc", script + run.replace("/tmp/", f"{system}/tmp/")], capture_output=True, text=True,
                              env={"PATH": f"{system}/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin"})
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertTrue(done.stdout.endswith("perfgate 9.9.9\n"), done.stdout)
        self.assertEqual([], list((system / "tmp").iterdir()))

    def check(self, tree):
        done = subprocess.run([self.RELEASE, "--check", tree], capture_output=True, text=True)
        return done.returncode, done.stderr

    def compile(self, name, text, *options):
        source = self.write(f"{name}.cpp", text)
        target = self.folder / name
        target.mkdir()
        subprocess.run(["c++", "-std=c++20", "-O1", "-shared", "-fPIC", source, "-o", target / "a.so", *options],
                       check=True, capture_output=True)
        return target

    def test_what_needs_more_than_glibc_is_refused(self):
        text = '#include <string>\nextern "C" int n(const char* s) { return std::stoi(std::string(s) + "1"); }\n'
        self.assertEqual(1, self.check(self.folder)[0])  # no program at all
        code, said = self.check(self.compile("dynamic", text))
        self.assertEqual(1, code, said)
        self.assertIn("needs libstdc++.so.6 of the machine", said)
        code, said = self.check(self.compile("open", text, "-static-libstdc++"))
        self.assertEqual(1, code, said)
        self.assertIn("shows its C++ runtime to others", said)
        self.write("map", "{ global: n; local: *; };\n")
        hidden = ["-static-libstdc++", f"-Wl,--version-script={self.folder / 'map'}"]
        newer = self.compile("newer", '#include <stdlib.h>\nextern "C" unsigned n() { return arc4random(); }\n', *hidden)
        code, said = self.check(newer)
        self.assertEqual(1, code, said)
        self.assertIn("needs glibc 2.36, and 2.35 is promised", said)
        # The same function of its own: what a release has.
        own = self.compile("own", 'extern "C" unsigned arc4random() noexcept { return 4; }\n' + text, *hidden,
                           "-Wl,--exclude-libs,ALL")
        self.assertEqual(0, self.check(own)[0], self.check(own)[1])


class WithoutNetwork(tool.Case):
    def test_ci_perfgate_gives_up_in_three_lines(self):
        root = self.folder / "checkout"
        shutil.copytree(tool.SOURCE / "ci", root / "ci")
        tools = self.folder / "tools"
        for name, text in (("dpkg-query", "exit 1"), ("apt-config", "true"), ("timeout", "exit 124"),
                           ("apt-get", 'case $1 in indextargets) echo "http://deb.debian.org/debian" ;; '
                                       f'*) echo "$*" >>"{self.folder}/installs" ;; esac'),
                           ("cmake", f'echo "$*" >>"{self.folder}/cmake"; echo pages of text; exit 1'),
                           ("sudo", "exit 1"), ("ccache", "true")):
            self.write(f"tools/{name}", f"#!/bin/sh\n{text}\n").chmod(0o755)
        done = subprocess.run([root / "ci/perfgate", "--version"], capture_output=True, text=True,
                              env={"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(self.folder)})
        self.assertEqual((3, ""), (done.returncode, done.stdout), done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(3, len(lines), done.stderr)
        self.assertIn("deb.debian.org cannot be reached: apt-get install cmake g++ git", lines[0])
        self.assertIn("a release needs no packages", lines[2])
        self.assertFalse((self.folder / "installs").exists())
        self.assertIn("-DFETCHCONTENT_FULLY_DISCONNECTED=yes", (self.folder / "cmake").read_text())


class FirstBuild(tool.Case):
    def test_ci_perfgate_counts_files_and_seconds_where_there_is_no_terminal(self):
        root = self.folder / "checkout"
        shutil.copytree(tool.SOURCE / "ci", root / "ci")
        said = self.folder / "said"
        # Of ten files it builds the fifth for as long as nothing is reported.
        self.script("tools/cmake", f"""#!/bin/bash
[ "$1" = --build ] || exit 0
echo '[5/10] Building CXX object a.o'
until grep -q 'built 5' '{said}'; do sleep 0.1; done
mkdir -p "$2/bin" && printf '#!/bin/sh\\necho built\\n' >"$2/bin/perfgate" && chmod +x "$2/bin/perfgate"
""")
        self.script("tools/dpkg-query", "#!/bin/sh\necho installed\n")
        with said.open("w") as file:
            done = subprocess.run([root / "ci/perfgate"], stdout=subprocess.PIPE, stderr=file, text=True, timeout=tool.PATIENCE_S,
                                  env={"PATH": f"{self.folder / 'tools'}:/usr/bin:/bin", "HOME": str(self.folder)})
        lines = said.read_text().splitlines()
        self.assertEqual((0, "built\n"), (done.returncode, done.stdout), lines)
        self.assertRegex(lines[0], "^perfgate: building into .*/build/release ")
        self.assertEqual(2, len(lines), lines)
        self.assertRegex(lines[1], r"^perfgate: built 5 of 10 files in [1-9]\d* s$")

    def test_ci_perfgate_demo_builds_the_binary_alone_and_what_measures_builds_the_rest(self):
        root = self.folder / "checkout"
        shutil.copytree(tool.SOURCE / "ci", root / "ci")
        for folder in ("cmake", "harness", "kernels"):
            (root / folder).mkdir()
        self.write("checkout/CMakeLists.txt", "")
        self.script("tools/cmake", f"""#!/bin/bash
[ "$1" = --build ] || exit 0
echo "$4" >>'{self.folder}/built'
mkdir -p "$2/bin" && printf '#!/bin/sh\necho "$1"\n' >"$2/bin/perfgate" && chmod +x "$2/bin/perfgate"
""")
        self.script("tools/dpkg-query", "#!/bin/sh\necho installed\n")

        def built(verb):
            (self.folder / "built").write_text("")
            done = subprocess.run([root / "ci/perfgate", verb], capture_output=True, text=True, timeout=tool.PATIENCE_S,
                                  env={"PATH": f"{self.folder / 'tools'}:/usr/bin:/bin", "HOME": str(self.folder)})
            self.assertEqual((0, f"{verb}\n"), (done.returncode, done.stdout), done.stderr)
            return (self.folder / "built").read_text().split()

        self.assertEqual(["perfgate"], built("demo"))
        self.assertEqual([], built("demo"))
        self.assertEqual(["all"], built("run"))
        self.assertEqual([], built("run"))
        os.utime(root / "CMakeLists.txt", (2**32, 2**32))
        self.assertEqual(["perfgate"], built("demo"))
        self.assertEqual(["all"], built("run"))


if __name__ == "__main__":
    tool.main()
