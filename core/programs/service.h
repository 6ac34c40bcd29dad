/*
 * What a service manager is told, by systemd's protocol. Does nothing where none asks for it, as in
 * a terminal, or in a build without libsystemd.
 */
#pragma once

/*
 * The start went well. From now on the manager hears from us for as long as the main loop runs;
 * when that hangs, the manager's watchdog sees it. To be called on the loop's thread.
 */
void drover_service_ready(void);
/* The end has begun. May be said twice. */
void drover_service_stopping(void);
