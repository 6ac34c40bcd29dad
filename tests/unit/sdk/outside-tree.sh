#!/bin/sh
# outside-tree.sh BUILD_DIR DRIVER_OPEN CC SANITIZE
# Installs the SDK into an empty folder and builds the same driver there twice, as an author would:
# by pkg-config and by CMake's find_package. Both have to load and make a machine.
set -eu
build=$1 driver_open=$2 cc=$3 sanitize=$4
work=$(mktemp -d /tmp/drover-sdk-XXXXXX)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" > "$work/install.log" || {
    cat "$work/install.log"
    exit 1
}
test ! -e "$work/prefix/include/drover/host.h" # not for drivers
libdir=$(dirname "$(find "$work/prefix" -name libdrover-sdk.so)")
# What CMake was configured for is not where this test installs.
find "$libdir/pkgconfig" -name '*.pc' -exec sed -i \
    -e "s,^libdir=.*,libdir=$libdir," -e "s,^includedir=.*,includedir=$work/prefix/include," {} +

cat > "$work/hello.c" <<'EOF'
#include <drover/driver.h>

static int
provider_open(struct drover_provider *provider, void **self)
{
    *self = provider;
    return 0;
}

static enum drover_step
create(void *self, struct drover_operation *op)
{
    (void)self;
    drover_operation_set_string(op, "external_id", "made-outside");
    return DROVER_DONE;
}

static enum drover_step
delete_(void *self, struct drover_operation *op)
{
    (void)self;
    (void)op;
    return DROVER_DONE;
}

static const struct drover_driver driver = {
    DROVER_DRIVER_HEADER,
    .name = "hello",
    .version = "1",
    .description = "made outside the tree",
    .licence = "Apache-2.0",
    .capabilities = DROVER_CAN_MACHINES,
    .provider_open = provider_open,
    .machine_create = create,
    .machine_delete = delete_,
};
DROVER_DRIVER(driver)
EOF
# The header is plain C11 and valid C++, without a warning in either.
${cc} -std=c11 -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$work/prefix/include" "$work/hello.c"
echo '#include <drover/driver.h>
#include <drover/scan.h>' > "$work/header.cpp"
c++ -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$work/prefix/include" "$work/header.cpp"

check() {
    answer=$("$driver_open" "$1" hello)
    test "$answer" = made-outside || {
        echo "$2: got '$answer'"
        exit 1
    }
    echo "ok: $2"
}

flags=${sanitize:+-fsanitize=$sanitize}
mkdir "$work/by-pkg-config"
PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046,SC2086
${cc} -std=c11 -shared -fPIC $flags $(pkg-config --cflags drover-sdk) "$work/hello.c" \
    -o "$work/by-pkg-config/hello.so" $(pkg-config --libs drover-sdk)
check "$work/by-pkg-config" pkg-config

mkdir "$work/project"
cp "$work/hello.c" "$work/project/"
cat > "$work/project/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.20)
project(hello C)
find_package(DroverSDK 1 REQUIRED)
add_library(hello MODULE hello.c)
set_target_properties(hello PROPERTIES PREFIX "")
target_link_libraries(hello PRIVATE Drover::sdk)
EOF
cmake -S "$work/project" -B "$work/by-cmake" -DCMAKE_PREFIX_PATH="$work/prefix" \
    -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS="$flags" > "$work/cmake.log"
cmake --build "$work/by-cmake" >> "$work/cmake.log"
check "$work/by-cmake" find_package
