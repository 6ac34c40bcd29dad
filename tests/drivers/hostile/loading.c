/* A driver that does harm when its file is loaded; built in several forms, see CMakeLists.txt. */
#include <stdlib.h>
#include <unistd.h>

#include <drover/driver.h>

__attribute__((constructor)) static void
attack(void)
{
#ifdef HANG
    for (;;)
        pause();
#elif defined(LEAVE)
    _exit(0);
#else
    abort();
#endif
}

static const struct drover_driver driver = {DROVER_DRIVER_HEADER};
DROVER_DRIVER(driver)
