#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The bill of materials of a release, from what its build read, and the licences of all that is inside.

    ci/bom.py BUILD TREE --version VERSION --revision COMMIT

BUILD is a build folder configured with PERFGATE_PORTABLE; TREE is what was installed from it. Writes
TREE/share/perfgate/perfgate.cdx.json (CycloneDX 1.5) and TREE/share/perfgate/licences. Every header that
a compiler opened (ninja's log of dependencies), every file that the linker opened (linked/*.d) and every
npm module in the HTML pages belongs to a component; a file that belongs to none is an error."""

import argparse
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
PAGES = SOURCE / "harness/report/html"

# Downloaded by cmake/PerfgatePortable.cmake: folder in _deps, library, Debian package with its copyright
DOWNLOADS = (("perfgate_fmt-src", "portable_fmt", "libfmt-dev"),
             ("perfgate_simdjson-src", "portable_simdjson", "libsimdjson-dev"))
CUDA_LICENCE = "https://docs.nvidia.com/cuda/eula/index.html"


def fail(message):
    sys.exit(f"ci/bom.py: {message}")


def output_of(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def headers(build):
    """The files that compilers opened, except those of the build folder."""
    listed = output_of("ninja", "-C", build, "-t", "deps")
    files = {line.strip() for line in listed.splitlines() if line.startswith("    ")}
    if not files:
        fail(f"{build} has no log of dependencies")
    return files


def linked(build):
    """The files that the linker opened, by the target that they went into."""
    found = {}
    for file in sorted((build / "linked").glob("*.d")):
        rule = file.read_text().replace("\\\n", " ").split("\n\n")[0]
        found[file.stem] = set(rule.partition(":")[2].split())
    if "perfgate" not in found:
        fail(f"{build}/linked does not say what perfgate was linked from")
    return found


def packages_of(files):
    """{file: Debian package}; files of no package are absent."""
    owners = {}
    # A file's package names it as it was before /lib moved to /usr/lib, or as it is now.
    names = {}
    for file in files:
        real = os.path.realpath(file)
        names[file] = [file, real, re.sub("^/usr/lib", "/lib", real)]
    wanted = sorted({name for each in names.values() for name in each})
    done = subprocess.run(["dpkg-query", "--search", *wanted], capture_output=True, text=True)
    for line in done.stdout.splitlines():
        package, _, path = line.partition(": ")
        if "diversion by" not in line:
            owners[path] = package.split(",")[0].partition(":")[0]
    return {file: owners[name] for file, each in names.items() for name in each if name in owners}


def debian_component(package):
    shown = output_of("dpkg-query", "-W", "-f", "${source:Package}\n${source:Version}\n${Version}\n${Architecture}", package)
    source, source_version, version, architecture = shown.split("\n")
    return {
        "type": "library", "name": package, "version": version,
        "purl": f"pkg:deb/debian/{package}@{version.replace('+', '%2B')}?arch={architecture}&distro=debian-12",
        "properties": [{"name": "perfgate:source", "value": f"{source} {source_version}"}],
    }


def sort_files(files, build, cuda):
    """What each file belongs to: {("debian", package)…: files}."""
    groups, rest = {}, []
    for file in files:
        path = os.path.realpath(os.path.join(build, file))
        download = next((each for each in DOWNLOADS
                         if f"/_deps/{each[0]}/" in path or path.endswith(f"/lib{each[1]}.a")), None)
        if download:
            groups.setdefault(("download", download), set()).add(path)
        elif path.startswith((f"{SOURCE}/", f"{os.path.realpath(build)}/")):
            continue
        elif path.startswith(f"{cuda}/"):
            groups.setdefault(("cuda", "cuda"), set()).add(path)
        else:
            rest.append(path)
    owners = packages_of(rest)
    unknown = sorted(path for path in rest if path not in owners)
    if unknown:
        fail("no package has " + ", ".join(unknown[:5]))
    for path in rest:
        groups.setdefault(("debian", owners[path]), set()).add(path)
    return groups


def npm_components(build):
    """The packages whose modules are in the pages, as the pages' licences name them."""
    lock = json.loads((PAGES / "package-lock.json").read_text())["packages"]
    names, folder = set(), build / "harness/report"
    for page in ("report.html", "profile.html"):
        text = (folder / page).read_text()
        if not text:
            fail(f"{folder / page} is empty: build with -DPERFGATE_HTML=ON")
        stated = "".join(re.findall(r'id="licences">(.*?)</script>', text, re.DOTALL))
        for line in re.findall(r"^(@?[\w./-]+(?:, @?[\w./-]+)*):$", stated, re.MULTILINE):
            names |= {name for name in line.split(", ") if f"node_modules/{name}" in lock}
    if "@observablehq/plot" not in names:
        fail("the pages do not say which packages are in them")
    components = []
    for name in sorted(names):
        entry = lock[f"node_modules/{name}"]
        purl = f"pkg:npm/{name.replace('@', '%40')}@{entry['version']}"
        components.append({"type": "library", "name": name, "version": entry["version"], "purl": purl,
                           "licenses": [{"license": {"id": entry["license"]}}], "use": "bundled"})
    return components


def version_of_download(build, folder):
    """As its address in cmake/PerfgatePortable.cmake has it."""
    text = (SOURCE / "cmake/PerfgatePortable.cmake").read_text()
    name = folder.removeprefix("perfgate_").removesuffix("-src")
    address, version = re.search(rf'"(https://\S+/{name}\w*_([\w.+]+)\.orig\.[\w.]+)"', text).groups()
    checksum = re.search(rf"perfgate_from_source\({name}\s+([0-9a-f]{{64}})", text)[1]
    return version, address, checksum


def components_of(build, cuda, tree):
    licences = tree / "share/perfgate/licences"
    shutil.rmtree(licences, ignore_errors=True)
    licences.mkdir(parents=True)

    def keep(package):
        copyright = pathlib.Path("/usr/share/doc") / package / "copyright"
        if not copyright.is_file():
            fail(f"{package} has no {copyright}: its licence is not known")
        shutil.copyfile(copyright, licences / f"{package}.txt")

    into = linked(build)
    compiled = sort_files(headers(build), build, cuda)
    archives = {target: sort_files(files, build, cuda) for target, files in into.items()}
    components = []
    for kind, what in sorted({*compiled, *(group for each in archives.values() for group in each)}, key=str):
        targets = sorted(target for target, groups in archives.items()
                         if any(file.endswith((".a", ".o")) for file in groups.get((kind, what), ())))
        if kind == "debian":
            keep(what)
            component = debian_component(what)
        elif kind == "download":
            folder, library, package = what
            name = library.removeprefix("portable_")
            keep(package)
            version, address, checksum = version_of_download(build, folder)
            component = {"type": "library", "name": name, "version": version,
                         "purl": f"pkg:generic/{name}@{version.replace('+', '%2B')}?download_url={address.replace('+', '%2B')}",
                         "hashes": [{"alg": "SHA-256", "content": checksum}]}
        else:
            version = re.search(r"V([\d.]+)", output_of(cuda / "bin/nvcc", "--version"))[1]
            (licences / "cuda.txt").write_text(
                "The static CUDA runtime (libcudart_static) and headers of the CUDA Toolkit are NVIDIA's, under the\n"
                f"CUDA Toolkit End User License Agreement: {CUDA_LICENCE}\n")
            component = {"type": "library", "name": "cuda-toolkit", "version": version, "supplier": {"name": "NVIDIA"},
                         "purl": f"pkg:generic/nvidia/cuda-toolkit@{version}",
                         "licenses": [{"license": {"name": "CUDA Toolkit EULA", "url": CUDA_LICENCE}}]}
        shared = any(".so" in pathlib.Path(file).name for groups in archives.values()
                     for file in groups.get((kind, what), ()))
        component["use"] = "static" if targets else "of the machine" if shared else "headers"
        component["into"] = targets
        components.append(component)
    npm = npm_components(build)
    (licences / "report-pages.txt").write_text(
        "Packages in the pages of the HTML reports, whose source has the text of their licences:\n" +
        "".join(f"{each['name']} {each['version']}: {each['licenses'][0]['license']['id']}\n" for each in npm))
    for component in components + npm:
        properties = component.setdefault("properties", [])
        properties.append({"name": "perfgate:use", "value": component.pop("use")})
        properties += [{"name": "perfgate:linked-into", "value": target} for target in component.pop("into", ())]
        component["bom-ref"] = component["purl"]
    return sorted(components + npm, key=lambda each: each["purl"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--revision", required=True)
    given = parser.parse_args()
    toolkits = [each for each in (given.build / "CMakeFiles").glob("*/CMakeCUDACompiler.cmake")]
    if not toolkits:
        fail(f"{given.build} was built without the CUDA toolkit")
    compiler = re.search(r'^set\(CMAKE_CUDA_COMPILER "(.*)"\)', toolkits[0].read_text(), re.MULTILINE)[1]
    cuda = pathlib.Path(os.path.realpath(compiler)).parent.parent
    itself = f"pkg:generic/perfgate@{given.version.replace('+', '%2B')}"
    components = components_of(given.build.resolve(), cuda, given.tree)
    when = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    bill = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {
            "timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "name": "perfgate", "version": given.version, "purl": itself,
                          "bom-ref": itself, "licenses": [{"license": {"id": "Apache-2.0"}}],
                          "properties": [{"name": "perfgate:revision", "value": given.revision}]},
        },
        "components": components,
        "dependencies": [{"ref": itself, "dependsOn": [each["bom-ref"] for each in components]}],
    }
    (given.tree / "share/perfgate/perfgate.cdx.json").write_text(json.dumps(bill, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
