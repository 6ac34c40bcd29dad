#!/bin/sh
# outside-tree.sh BUILD_DIR DRIVER_OPEN CC SANITIZE
# Installs the SDK alone into an empty folder and builds the same driver there twice, as an author
# would: by pkg-config and by CMake's find_package. Both have to load and make a machine.
set -eu
build=$1 driver_open=$2 cc=$3 sanitize=$4
source=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d /tmp/drover-sdk-XXXXXX)
trap 'rm -rf "$work"' EXIT

quietly() {
    "$@" > "$work/log" 2>&1 || {
        cat "$work/log"
        exit 1
    }
}

check() {
    answer=$("$driver_open" "$1" hello)
    test "$answer" = made-outside || {
        echo "$2: got '$answer'"
        exit 1
    }
    echo "ok: $2"
}

# It is found wherever it is: installed in one place, used in another.
quietly cmake --install "$build" --component sdk --prefix "$work/installed"
mv "$work/installed" "$work/prefix"
test ! -e "$work/prefix/include/drover/host.h" # not for drivers
libdir=$(dirname "$(find "$work/prefix" -name libdrover-sdk.so)")
flags=${sanitize:+-fsanitize=$sanitize}

PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH
mkdir "$work/by-pkg-config"
# shellcheck disable=SC2046,SC2086
quietly ${cc} -std=c11 -Wall -Wextra -pedantic -Werror -shared -fPIC $flags \
    $(pkg-config --cflags drover-sdk) "$source/hello.c" \
    -o "$work/by-pkg-config/hello.so" $(pkg-config --libs drover-sdk)
check "$work/by-pkg-config" pkg-config
test "$(realpath -m "$(pkg-config --variable=driverdir drover-sdk)")" = "$libdir/drover/drivers"

mkdir "$work/project"
cp "$source/hello.c" "$work/project/"
cat > "$work/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(hello C)
find_package(DroverSDK 1 REQUIRED)
add_library(hello MODULE hello.c)
set_target_properties(hello PROPERTIES PREFIX "")
target_link_libraries(hello PRIVATE Drover::sdk)
install(TARGETS hello DESTINATION ${DROVER_DRIVER_DIR})
END
quietly cmake -S "$work/project" -B "$work/by-cmake" -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS="$flags"
quietly cmake --build "$work/by-cmake"
quietly cmake --install "$work/by-cmake"
check "$libdir/drover/drivers" find_package

# A driver in C++, and every public header by itself in both languages.
c++ -std=c++20 -Wall -Wextra -pedantic -Werror -Wno-missing-field-initializers \
    -fsyntax-only -I"$work/prefix/include" "$source/hello.cpp"
for header in "$work"/prefix/include/drover/*.h; do
    echo "#include <drover/$(basename "$header")>" > "$work/header.c"
    cp "$work/header.c" "$work/header.cpp"
    ${cc} -std=c11 -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$work/prefix/include" \
        "$work/header.c"
    c++ -std=c++11 -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$work/prefix/include" \
        "$work/header.cpp"
done
echo "ok: headers"
