#include "base/error.h"

G_DEFINE_QUARK(drover - error - quark, drover_error)
