/* What a shared object exports and needs, read from its file. */
#include <elf.h>
#include <link.h>
#include <string.h>

#include "check/groups.h"

#define PRIVATE_VERSION "DROVER_HOST_PRIVATE"

typedef struct {
    const char *data;
    gsize length;
    const ElfW(Ehdr) * header;
} Image;

static const void *
part(const Image *image, gsize offset, gsize size)
{
    return offset <= image->length && size <= image->length - offset ? image->data + offset : NULL;
}

static const ElfW(Shdr) * section(const Image *image, guint index)
{
    return part(image, image->header->e_shoff + index * sizeof(ElfW(Shdr)), sizeof(ElfW(Shdr)));
}

static gboolean
read_image(Image *image)
{
    image->header = part(image, 0, sizeof(*image->header));
    return image->header != NULL && memcmp(image->header->e_ident, ELFMAG, SELFMAG) == 0 &&
           image->header->e_ident[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32);
}

/* The linker's own, and those of sanitizers. */
static gboolean
is_of_the_tools(const char *name)
{
    static const char *const own[] = {"_init", "_fini", "_edata", "_end", "__bss_start"};

    for (guint i = 0; i < G_N_ELEMENTS(own); i++)
        if (strcmp(name, own[i]) == 0)
            return TRUE;
    return g_str_has_prefix(name, "__asan") || g_str_has_prefix(name, "__odr_asan") ||
           g_str_has_prefix(name, "__gcov") || g_str_has_prefix(name, "__ubsan");
}

static gboolean
is_exported(const ElfW(Sym) * symbol)
{
    /* ELF64_ST_BIND and ELF32_ST_BIND are the same. */
    return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
           ELF64_ST_BIND(symbol->st_info) == STB_GLOBAL &&
           ELF64_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT;
}

static void
collect(const Image *image, const ElfW(Shdr) * table, const char *expected, GPtrArray *names)
{
    const ElfW(Shdr) *strings = section(image, table->sh_link);
    const ElfW(Sym) *symbols = part(image, table->sh_offset, table->sh_size);
    const char *text = strings != NULL ? part(image, strings->sh_offset, strings->sh_size) : NULL;

    if (symbols == NULL || text == NULL)
        return;
    for (gsize i = 0; i < table->sh_size / sizeof(*symbols); i++) {
        const char *name = symbols[i].st_name < strings->sh_size ? text + symbols[i].st_name : "";

        if (is_exported(&symbols[i]) && strcmp(name, expected) != 0 && !is_of_the_tools(name))
            g_ptr_array_add(names, g_strdup(name));
    }
}

static gboolean
needs_private(const Image *image, const ElfW(Shdr) * table)
{
    const ElfW(Shdr) *strings = section(image, table->sh_link);
    const char *text = strings != NULL ? part(image, strings->sh_offset, strings->sh_size) : NULL;

    return text != NULL &&
           memmem(text, strings->sh_size, PRIVATE_VERSION, sizeof(PRIVATE_VERSION)) != NULL;
}

char **
drover_check_exports(const char *path, const char *expected, gboolean *uses_private)
{
    g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, NULL);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    Image image = {0};

    *uses_private = FALSE;
    if (file == NULL)
        return NULL;
    image.data = g_mapped_file_get_contents(file);
    image.length = g_mapped_file_get_length(file);
    if (!read_image(&image))
        return NULL;
    for (guint i = 0; i < image.header->e_shnum; i++) {
        const ElfW(Shdr) *table = section(&image, i);

        if (table != NULL && table->sh_type == SHT_DYNSYM)
            collect(&image, table, expected, names);
        if (table != NULL && table->sh_type == SHT_GNU_verneed)
            *uses_private |= needs_private(&image, table);
    }
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}
