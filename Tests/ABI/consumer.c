/* A host: the version, a device that opens; with ANOTHER also a Swift archive of somebody else's. */
#include <bellwire.h>

#include <stdio.h>
#include <string.h>

#ifdef ANOTHER
int32_t another_count(void);
#endif

static const char *opens(void)
{
    bw_device *device = NULL;
    char *state = NULL;
    int good = bw_device_open("{\"state_dir\":\":memory:\"}", &device) == BW_OK
        && bw_device_state(device, &state) == BW_OK && strstr(state, "did:key:z") != NULL;
    bw_free(state);
    return bw_device_close(device) == BW_OK && good ? "opens" : "does not open";
}

int main(void)
{
#ifdef ANOTHER
    int32_t before = another_count();
    const char *opened = opens();
    int32_t after = another_count();
    printf("%s %s; %d\n", bw_version(), opened, before == after ? after : -1);
#else
    printf("%s %s\n", bw_version(), opens());
#endif
    return 0;
}
