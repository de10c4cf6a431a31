/* A plug-in with libbellwire.a inside. Its host, host.c, knows nothing of Bellwire. */
#include <bellwire.h>

/* The version when a device opens and closes, otherwise NULL. */
const char *plugin_run(void);

const char *plugin_run(void)
{
    bw_device *device = NULL;
    if (bw_device_open("{\"state_dir\":\":memory:\"}", &device) < 0)
        return NULL;
    return bw_device_close(device) < 0 ? NULL : bw_version();
}
