#include "support/certificates.h"

#include "support/process.h"

#define NEW_KEY "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"

struct _TestAuthority {
    char *folder;
    GStringChunk *paths;
};

const char *
test_authority_path(TestAuthority *authority, const char *file)
{
    g_autofree char *path = g_build_filename(authority->folder, file, NULL);

    return g_string_chunk_insert_const(authority->paths, path);
}

const char *
test_authority_certificate(TestAuthority *authority)
{
    return test_authority_path(authority, "ca.pem");
}

static const char *
path_of(TestAuthority *authority, const char *name, const char *suffix)
{
    g_autofree char *file = g_strconcat(name, suffix, NULL);

    return test_authority_path(authority, file);
}

const char *
test_authority_issued(TestAuthority *authority, const char *name)
{
    return path_of(authority, name, ".pem");
}

const char *
test_authority_key(TestAuthority *authority, const char *name)
{
    return path_of(authority, name, "-key.pem");
}

TestAuthority *
test_authority_new(const char *common_name, GError **error)
{
    g_autoptr(TestAuthority) authority = g_new0(TestAuthority, 1);
    g_autofree char *subject = g_strconcat("/CN=", common_name, NULL);

    authority->folder = test_folder_make();
    authority->paths = g_string_chunk_new(256);
    {
        const char *const argv[] = {"openssl", "req",
                                    "-x509",   NEW_KEY,
                                    "-keyout", test_authority_key(authority, "ca"),
                                    "-out",    test_authority_certificate(authority),
                                    "-days",   "1",
                                    "-subj",   subject,
                                    "-addext", "keyUsage=critical,keyCertSign,cRLSign",
                                    NULL};

        if (!test_process_run(argv, error))
            return NULL;
    }
    return g_steal_pointer(&authority);
}

static gboolean
make_request(TestAuthority *authority, const TestCertificateRequest *request, GError **error)
{
    const char *common_name = request->common_name ? request->common_name : request->name;
    g_autofree char *subject = g_strconcat("/CN=", common_name, NULL);
    g_autofree char *extension = g_strconcat("subjectAltName=", request->alternative_names, NULL);
    const char *const argv[] = {"openssl",
                                "req",
                                "-new",
                                NEW_KEY,
                                "-keyout",
                                test_authority_key(authority, request->name),
                                "-out",
                                path_of(authority, request->name, ".csr"),
                                "-subj",
                                subject,
                                request->alternative_names ? "-addext" : NULL,
                                extension,
                                NULL};

    return test_process_run(argv, error);
}

static gboolean
sign_request(TestAuthority *authority, const TestCertificateRequest *request, GError **error)
{
    const char *const argv[] = {"openssl",
                                "x509",
                                "-req",
                                "-in",
                                path_of(authority, request->name, ".csr"),
                                "-CA",
                                test_authority_certificate(authority),
                                "-CAkey",
                                test_authority_key(authority, "ca"),
                                "-CAcreateserial",
                                "-copy_extensions",
                                "copy",
                                "-days",
                                request->is_expired ? "-1" : "1",
                                "-out",
                                test_authority_issued(authority, request->name),
                                NULL};

    return test_process_run(argv, error);
}

gboolean
test_authority_issue(TestAuthority *authority, const TestCertificateRequest *request,
                     GError **error)
{
    return make_request(authority, request, error) && sign_request(authority, request, error);
}

void
test_authority_free(TestAuthority *authority)
{
    if (authority == NULL)
        return;
    test_folder_remove(authority->folder);
    g_free(authority->folder);
    if (authority->paths != NULL)
        g_string_chunk_free(authority->paths);
    g_free(authority);
}
