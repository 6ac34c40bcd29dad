#include "zk/state-file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/log.h"

static char *
session_path(const char *directory)
{
    return g_build_filename(directory, "session.json", NULL);
}

int
drover_state_lock(const char *directory, GError **error)
{
    g_autofree char *path = g_build_filename(directory, "lock", NULL);
    int fd;

    if (g_mkdir_with_parents(directory, 0700) != 0) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_FAILED,
                    "cannot create the state folder %s: %s", directory, g_strerror(errno));
        return -1;
    }
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_FAILED, "cannot write %s: %s", path,
                    g_strerror(errno));
        return -1;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        g_set_error(error, DROVER_ERROR, DROVER_ERROR_BUSY,
                    "another process uses the state folder %s; "
                    "give each launcher of a host its own with --state-dir",
                    directory);
        return -1;
    }
    return fd;
}

gboolean
drover_state_load(const char *directory, const char *cluster, DroverSessionIdentity *identity)
{
    g_autofree char *path = session_path(directory), *text = NULL;
    g_autofree guchar *password = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) record = NULL;
    const char *id, *holder, *secret, *known;
    gsize length, password_length = 0;

    if (!g_file_get_contents(path, &text, &length, &error)) {
        if (!g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
            drover_log_for(DROVER_LOG_WARNING, "zk.ZooKeeper", "%s", error->message);
        return FALSE;
    }
    record = drover_json_parse_object(text, length, NULL);
    id = drover_json_string(record, "session");
    holder = drover_json_string(record, "holder");
    secret = drover_json_string(record, "password");
    known = drover_json_string(record, "cluster");
    if (secret != NULL)
        password = g_base64_decode(secret, &password_length);
    if (id == NULL || known == NULL || holder == NULL || strlen(holder) != 16 ||
        password_length != DROVER_SESSION_PASSWORD_SIZE) {
        drover_log_for(DROVER_LOG_WARNING, "zk.ZooKeeper",
                       "%s is not a saved session; a new session is begun", path);
        return FALSE;
    }
    if (strcmp(known, cluster) != 0)
        return FALSE;
    identity->id = (gint64)g_ascii_strtoull(id, NULL, 16);
    memcpy(identity->password, password, DROVER_SESSION_PASSWORD_SIZE);
    g_strlcpy(identity->holder, holder, sizeof(identity->holder));
    return identity->id != 0;
}

gboolean
drover_state_save(const char *directory, const char *cluster, const DroverSessionIdentity *identity,
                  GError **error)
{
    g_autofree char *path = session_path(directory), *id = NULL, *secret = NULL, *text = NULL;
    g_autoptr(json_t) record = json_object();

    id = g_strdup_printf("%" G_GINT64_MODIFIER "x", (guint64)identity->id);
    secret = g_base64_encode(identity->password, DROVER_SESSION_PASSWORD_SIZE);
    json_object_set_new(record, "cluster", json_string(cluster));
    json_object_set_new(record, "session", json_string(id));
    json_object_set_new(record, "password", json_string(secret));
    json_object_set_new(record, "holder", json_string(identity->holder));
    text = drover_json_text(record);
    return g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, error);
}

void
drover_state_forget(const char *directory)
{
    g_autofree char *path = session_path(directory);

    g_unlink(path);
}
