/* A disk image to upload: a file with bytes that a checksum tells from others. */
#pragma once

#include <glib.h>

enum { IMAGE_FILE_SIZE = 3 * 1024 * 1024 + 17 };

typedef struct {
    char *folder, *path, *checksum;
} ImageFile;

void image_file_make(ImageFile *file, const char *name, GChecksumType type);
void image_file_remove(ImageFile *file);
