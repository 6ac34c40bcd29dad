/*
 * drover/scan.h - reaching a machine: its address, whether a port answers, its SSH host keys.
 *
 * A scan never blocks and needs no thread: it runs on the main context that was the thread's
 * default one when it was started, as every call into a driver has one. A driver starts a scan in
 * a step, returns DROVER_RUNNING, and calls drover_operation_wake() when the scan is done:
 *
 *     scan = drover_scan_new(DROVER_SCAN_HOST_KEYS, "build-7.example.org", 22);
 *     drover_scan_set_limit(scan, 60000);
 *     drover_scan_start(scan, wake_operation, operation);
 *
 * What happens: the name is resolved once, its first address is used. A connection is tried until
 * it works or the limit is reached; between the beginnings of two tries passes at least the pause.
 * For host keys the first connection only shows that an SSH server answers; then each key type is
 * asked for on a connection of its own, the exchange ends after the key exchange, and a key counts
 * only when the server's signature over the exchange is good. Nobody is authenticated and no user
 * name is sent. A type that the server does not have is passed over in silence, one that fails is
 * logged and passed over. Host keys that were wanted and not found are a failure.
 *
 * Threads: all functions of one scan are called on the thread that started it.
 */
#ifndef DROVER_SCAN_H
#define DROVER_SCAN_H

#include <drover/driver.h>

#ifdef __cplusplus
extern "C" {
#endif

struct drover_scan;

enum drover_scan_kind {
    DROVER_SCAN_RESOLVE = 1, /* the address only; the machine is not contacted */
    DROVER_SCAN_CONNECT,     /* a TCP connection, closed at once */
    DROVER_SCAN_HOST_KEYS,   /* the SSH host keys */
};

typedef void (*drover_scan_done)(struct drover_scan *scan, void *data);
/*
 * What went wrong on the way without ending the scan, without the name of the machine. `text` is
 * valid until the call returns.
 */
typedef void (*drover_scan_log)(enum drover_log_level level, const char *text, void *data);

/* `host` is a name, an IPv4 or an IPv6 address (without brackets; a zone as in fe80::1%eth0). */
DROVER_EXPORT struct drover_scan *drover_scan_new(enum drover_scan_kind kind, const char *host,
                                                  uint16_t port);
/*
 * Ends the scan in any state: its sockets are closed when this returns, and `done` is not called
 * any more. Also allowed within `done`. NULL is allowed.
 */
DROVER_EXPORT void drover_scan_free(struct drover_scan *scan);

/* ---- Before the start; milliseconds ---- */

/* For everything, counted from the start: 60000. */
DROVER_EXPORT void drover_scan_set_limit(struct drover_scan *scan, uint32_t milliseconds);
/* Least time from the beginning of one try to that of the next: 1000. */
DROVER_EXPORT void drover_scan_set_pause(struct drover_scan *scan, uint32_t milliseconds);
/*
 * For one try: until TCP is connected (10000); then until the SSH server has named its version, and
 * once more until the keys are exchanged (15000 each). After that the next try begins.
 */
DROVER_EXPORT void drover_scan_set_try_limits(struct drover_scan *scan, uint32_t connect,
                                              uint32_t handshake);
/* NULL, the default: nothing is logged. */
DROVER_EXPORT void drover_scan_set_log(struct drover_scan *scan, drover_scan_log log, void *data);

/* `done` is called exactly once, never before this returns, unless the scan is freed. */
DROVER_EXPORT void drover_scan_start(struct drover_scan *scan, drover_scan_done done, void *data);

/* ---- The result, once done. Strings live as long as the scan. ---- */

/*
 * 0 when the scan succeeded; DROVER_FAILURE_TIMEOUT when the limit was reached;
 * DROVER_FAILURE_UNREACHABLE when the name cannot be resolved, or the SSH server answers but gave
 * no key.
 */
DROVER_EXPORT int drover_scan_failure(const struct drover_scan *scan);
/* What went wrong, without the name of the machine; NULL when it succeeded. */
DROVER_EXPORT const char *drover_scan_message(const struct drover_scan *scan);
/* The address used, and 4 or 6; NULL and 0 until the name is resolved. */
DROVER_EXPORT const char *drover_scan_address(const struct drover_scan *scan);
DROVER_EXPORT int drover_scan_address_family(const struct drover_scan *scan);
/*
 * The host keys, each once, as "<type> <base64>" where the type is the one inside the key; in the
 * order Ed25519, ECDSA with 256, 384, 521 bits, RSA. NULL beyond the last one. None when the scan
 * failed.
 */
DROVER_EXPORT size_t drover_scan_key_count(const struct drover_scan *scan);
DROVER_EXPORT const char *drover_scan_key(const struct drover_scan *scan, size_t index);

#ifdef __cplusplus
}
#endif

#endif
