#include "image-file.h"

#include "support/process.h"

void
image_file_make(ImageFile *file, const char *name, GChecksumType type)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *bytes = g_malloc(IMAGE_FILE_SIZE);

    for (gsize i = 0; i < IMAGE_FILE_SIZE; i++)
        bytes[i] = (char)(i * 2654435761u >> 13);
    file->folder = test_folder_make();
    file->path = g_build_filename(file->folder, name, NULL);
    g_file_set_contents(file->path, bytes, IMAGE_FILE_SIZE, &error);
    g_assert_no_error(error);
    file->checksum = g_compute_checksum_for_data(type, (guchar *)bytes, IMAGE_FILE_SIZE);
}

void
image_file_remove(ImageFile *file)
{
    test_folder_remove(file->folder);
    g_free(file->folder);
    g_free(file->path);
    g_free(file->checksum);
}
