#include "service.h"

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

const struct service_form service_forms[SERVICES] = {
    [SERVICE_IDENTITY] = {"identity", NAMES("identity"), NAMES("identity"), NULL},
    [SERVICE_COMPUTE] = {"compute", NAMES("compute"), NAMES("compute"), NULL},
    [SERVICE_NETWORK] = {"network", NAMES("network"), NAMES("network"), "/v2.0"},
    [SERVICE_IMAGE] = {"image", NAMES("image"), NAMES("image"), "/v2"},
    [SERVICE_VOLUME] = {"volume", NAMES("block-storage", "block-store", "volumev3", "volume"),
                        NAMES("block_storage", "volume", "volumev3", "volumev2"), NULL},
};
