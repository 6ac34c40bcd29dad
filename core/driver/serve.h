/*
 * The driver's process: runs one provider of one driver for the launcher at the other end of a
 * socket, or lets the driver check providers' sections. What the driver is told comes in frames,
 * one after the other, and each is answered when the driver has come back; what it says in between
 * is passed on at once, unchecked: the launcher does not trust it anyhow.
 *
 *     launcher ── check, open, start, begin, step, cancel, end, news, stop, close ──►
 *              ◄── did, say, log, mistake, machine, called ──
 */
#pragma once

#include <glib.h>

/* Until the other end closes the provider or the socket. Returns an exit status. */
int drover_serve(int fd);
