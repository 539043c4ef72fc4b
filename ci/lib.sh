# SPDX-License-Identifier: Apache-2.0
# What ci/perfgate and ci/test share: installing packages, configuring, building. Sourced by bash.

perfgate_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

build_packages=(cmake g++ git libboost-dev libcli11-dev libfmt-dev libpugixml-dev libsimdjson-dev
                libre2-dev libsqlite3-dev libyaml-cpp-dev ninja-build nlohmann-json3-dev zlib1g-dev)
# The version that the sources are formatted with: others format some lines differently.
clang_format_version=14
# What configuring with tests searches for, and what only running them does.
test_build_packages=(libbenchmark-dev libgtest-dev python3)
test_packages=(clang "clang-format-$clang_format_version" cmark-gfm fish jq libxml2-utils python3-jsonschema
               python3-junitparser python3-pytest python3-yaml shellcheck zsh zstd)
# The test of ci/slurm starts its own daemons, which only root can.
[ "$(id -u)" != 0 ] || test_packages+=(munge slurm-client slurmctld slurmd)

say() { printf 'perfgate: %s\n' "$*" >&2; }

# missing_packages NAME...: those that are not installed, into `missing`.
missing_packages() {
    local name
    missing=()
    for name in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] ||
            missing+=("$name")
    done
}

# reachable HOST PORT: whether there is a way to a server, in at most 5 s. What a proxy can reach is not
# known here, so that counts as a way.
reachable() {
    [ -z "${http_proxy:-}${https_proxy:-}${HTTP_PROXY:-}${HTTPS_PROXY:-}${ALL_PROXY:-}" ] || return 0
    timeout 5 bash -c ': <"/dev/tcp/$0/$1"' "$1" "$2" 2>/dev/null
}

# package_server: host and port of the first server that apt takes packages from; nothing if it takes
# them from elsewhere or through a proxy.
package_server() {
    local site
    [ -z "$(apt-config shell proxy Acquire::http::Proxy 2>/dev/null)" ] || return 0
    site=$(apt-get indextargets --format '$(SITE)' 2>/dev/null | grep -m 1 '^https\?://' || true)
    [[ $site =~ ^(https?)://([^/:@]+)(:([0-9]+))?(/|$) ]] || return 0
    if [ -n "${BASH_REMATCH[4]}" ]; then
        echo "${BASH_REMATCH[2]} ${BASH_REMATCH[4]}"
    elif [ "${BASH_REMATCH[1]}" = https ]; then
        echo "${BASH_REMATCH[2]} 443"
    else
        echo "${BASH_REMATCH[2]} 80"
    fi
}

# install_packages NAME...: installs missing packages on Debian and Ubuntu. Elsewhere, or if that fails,
# prints what is needed and continues: CMake then searches itself, and downloads what it can. Sets
# `offline` if packages are missing and their server cannot be reached.
install_packages() {
    command -v dpkg-query >/dev/null 2>&1 || {
        say "not Debian or Ubuntu; needed, by Debian's names: $*"
        return 0
    }
    local missing server
    missing_packages "$@"
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ -n "${PERFGATE_NO_INSTALL:-}" ]; then
        say "missing packages, and PERFGATE_NO_INSTALL is set: apt-get install ${missing[*]}"
        return 0
    fi
    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null 2>&1 || {
            say "missing packages, and no sudo to install them: apt-get install ${missing[*]}"
            return 0
        }
        as_root=(sudo)
    fi
    server=$(package_server)
    # shellcheck disable=SC2086 # host and port
    if [ -n "$server" ] && ! reachable $server; then
        say "missing packages, and ${server% *} cannot be reached: apt-get install ${missing[*]}"
        offline=yes
        return 0
    fi
    say "installing ${missing[*]}"
    { [ -n "${apt_updated:-}" ] || "${as_root[@]}" apt-get update -qq >&2; } && apt_updated=yes &&
        DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq \
            --no-install-recommends "${missing[@]}" >&2 ||
        say "apt-get failed; going on with what is installed"
}

# install_npm: npm, which builds the page of the HTML report and installs what the tests need.
install_npm() {
    command -v npm >/dev/null 2>&1 || install_packages nodejs npm
}

# install_browser: Chromium, for the test of the HTML report. Ubuntu has it only as a snap; if it is
# missing, that test says so.
install_browser() {
    command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 ||
        install_packages chromium
}

# install_node_tools DIR: installs the packages of ci/node/package.json into the folder. If that fails,
# says so and continues: the tests that need them then report what is missing.
install_node_tools() {
    install_npm
    if cmp -s "$perfgate_root/ci/node/package-lock.json" "$1/installed.json"; then
        cp "$perfgate_root"/ci/node/*.cjs "$1"
        return 0
    fi
    mkdir -p "$1" && cp "$perfgate_root"/ci/node/* "$1" &&
        npm ci --prefix "$1" --ignore-scripts --no-audit --no-fund --loglevel=error >&2 &&
        cp "$1/package-lock.json" "$1/installed.json" ||
        say "npm failed; going on without the checks of the workflows and of the HTML report"
}

# gpu_architectures: what to compile kernels for, as CMake names it: this machine's GPUs; without a GPU
# one architecture, so that all kernels are compiled once; nothing (CMake's default) if that is not known.
gpu_architectures() {
    if [ ! -e /dev/nvidiactl ] && [ ! -e /proc/driver/nvidia ]; then
        echo 90a
        return
    fi
    nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
        awk '$1 >= 7.5 { sub(/\./, "", $1); print $1 == 90 ? "90a" : $1 }' | sort -u | paste -sd ';' - || true
}

# What ci/test and ci/dev build. -O1 takes a quarter less time to compile than -O2, and has its warnings but those that need
# more inlining, which ci/test-long shows; that a variable may be uninitialised is often wrong there, and only warned of. A
# compiler that does not collect its garbage takes a twelfth less.
test_options=(-DCMAKE_BUILD_TYPE=Release
              -DCMAKE_CXX_FLAGS_RELEASE='-O1 -DNDEBUG --param=ggc-min-heapsize=1000000 -Wno-error=maybe-uninitialized'
              -DCMAKE_CUDA_FLAGS_RELEASE='-O1 -DNDEBUG' # of host code alone
              -DPERFGATE_TESTS=ON -DPERFGATE_WERROR=ON)

# configure DIR CMAKE_ARGUMENT...: configures with the arguments if DIR is not yet a build folder.
configure() {
    local dir=$1
    shift
    [ ! -f "$dir/build.ninja" ] || return 0
    local faster=()
    # ccache keeps no compilation that uses a precompiled header.
    command -v ccache >/dev/null 2>&1 &&
        faster+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache
                 -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON)
    local architectures
    architectures=$(gpu_architectures)
    cmake -S "$perfgate_root" -B "$dir" -G Ninja "${faster[@]}" \
        ${architectures:+-DPERFGATE_CUDA_ARCHITECTURES="$architectures"} "$@" >&2
}

# build DIR CMAKE_ARGUMENT...: configures if needed, and builds everything.
build() {
    configure "$@" || return 1
    cmake --build "$1" >&2
}
