# SPDX-License-Identifier: Apache-2.0
# What ci/perfgate and ci/test share: installing packages, configuring, building. Sourced by bash.

perfgate_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

build_packages=(cmake g++ git libcli11-dev libfmt-dev libpugixml-dev libyaml-cpp-dev ninja-build
                nlohmann-json3-dev)
test_packages=(libgtest-dev libxml2-utils python3 python3-jsonschema python3-junitparser python3-yaml)

say() { printf 'perfgate: %s\n' "$*" >&2; }

# install_packages NAME...: installs what is missing on Debian and Ubuntu; elsewhere, and where that
# fails, says what is needed and goes on: CMake then looks for itself, and fetches what it can.
install_packages() {
    command -v dpkg-query >/dev/null 2>&1 || {
        say "not Debian or Ubuntu; needed, by Debian's names: $*"
        return 0
    }
    local name missing=()
    for name in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] ||
            missing+=("$name")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null 2>&1 || {
            say "missing packages, and no sudo to install them: apt-get install ${missing[*]}"
            return 0
        }
        as_root=(sudo)
    fi
    say "installing ${missing[*]}"
    "${as_root[@]}" apt-get update -qq >&2 &&
        DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq \
            --no-install-recommends "${missing[@]}" >&2 ||
        say "apt-get failed; going on with what is installed"
}

# build DIR CMAKE_ARGUMENT...: builds; configures with the arguments first where DIR is not yet a build
# folder.
build() {
    local dir=$1
    shift
    if [ ! -f "$dir/build.ninja" ]; then
        local launcher=()
        command -v ccache >/dev/null 2>&1 &&
            launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
        cmake -S "$perfgate_root" -B "$dir" -G Ninja "${launcher[@]}" "$@" >&2 || return 1
    fi
    cmake --build "$dir" >&2
}
