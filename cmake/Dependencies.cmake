# The libraries that Drover stands on, each as one imported target.
find_package(PkgConfig REQUIRED)
pkg_check_modules(GLIB REQUIRED IMPORTED_TARGET glib-2.0>=2.74 gio-2.0 gio-unix-2.0 gobject-2.0)
pkg_check_modules(GMODULE REQUIRED IMPORTED_TARGET gmodule-no-export-2.0)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(YAML REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(SSH REQUIRED IMPORTED_TARGET libssh)
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
# Optional: without it the service manager is told nothing.
pkg_check_modules(SYSTEMD IMPORTED_TARGET libsystemd)

find_library(LTDL_LIBRARY ltdl REQUIRED)
find_path(LTDL_INCLUDE_DIR ltdl.h REQUIRED)
add_library(ltdl INTERFACE)
target_link_libraries(ltdl INTERFACE ${LTDL_LIBRARY})
target_include_directories(ltdl INTERFACE ${LTDL_INCLUDE_DIR})

find_library(ZOOKEEPER_LIBRARY zookeeper_mt REQUIRED)
find_path(ZOOKEEPER_INCLUDE_DIR zookeeper/zookeeper.h REQUIRED)
add_library(zookeeper INTERFACE)
target_link_libraries(zookeeper INTERFACE ${ZOOKEEPER_LIBRARY})
target_include_directories(zookeeper INTERFACE ${ZOOKEEPER_INCLUDE_DIR})
target_compile_definitions(zookeeper INTERFACE THREADED)

# Debian builds the library without TLS; where it has TLS, the library's own is used.
include(CheckLibraryExists)
check_library_exists(${ZOOKEEPER_LIBRARY} zookeeper_init_ssl "" HAVE_ZOOKEEPER_INIT_SSL)
if(HAVE_ZOOKEEPER_INIT_SSL)
  target_compile_definitions(zookeeper INTERFACE HAVE_OPENSSL_H)
endif()
