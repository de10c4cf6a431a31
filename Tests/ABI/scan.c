/* Scanning a code that cannot be, or whose desktop cannot be reached: each has its reason. */
#include "roles.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static bw_device *device;

/* A code of so many milliseconds ago, with members to add or replace (a JSON object, or NULL) and one to leave out. */
static char *code_with(int64_t age_ms, const char *members, const char *without)
{
    json_t *code = json_pack("{s:s, s:s, s:s, s:{s:s, s:s, s:s}, s:I, s:s}", "type", "desktop-pairing", "code",
                             "012345", "pcPeerId", "pc-of-the-test", "deviceInfo", "name", "PC", "platform", "linux",
                             "version", "1.0", "timestamp", (json_int_t)(epoch_ms() - age_ms), "signalingUrl",
                             "ws://127.0.0.1:1");
    json_t *more = members != NULL ? json_loads(members, 0, NULL) : NULL;
    char *text;
    if (more != NULL)
        json_object_update(code, more);
    if (without != NULL)
        json_object_del(code, without);
    text = json_dumps(code, JSON_COMPACT);
    json_decref(more);
    json_decref(code);
    return text;
}

static void refused(const char *code, const char *reason)
{
    char expected[96];
    char *json = NULL;
    char *again;
    CHECK_STATUS(bw_pairing_scan(device, code, within(15000), &json), BW_E_PAIRING);
    snprintf(expected, sizeof expected, "\"%s\"", reason);
    CHECK_ERROR(BW_E_PAIRING, expected);
    again = bw_last_error();
    {
        json_t *error = parsed(again);
        CHECK_TEXT(json_string_value(json_object_get(json_object_get(error, "detail"), "reason")), reason);
        json_decref(error);
    }
    CHECK(json == NULL, "no output was written");
}

static void refused_with(int64_t age_ms, const char *members, const char *without, const char *reason)
{
    char *code = code_with(age_ms, members, without);
    refused(code, reason);
    free(code);
}

static void bad_codes(void)
{
    device = open_device(":memory:");
    refused("this is no JSON", "not_json");
    refused("", "not_json");
    refused("{\"type\":\"desktop-pairing\"", "not_json");
    refused("[1,2]", "not_json");
    refused_with(0, "{\"type\":\"device-pairing\"}", NULL, "wrong_type");
    refused_with(0, NULL, "type", "wrong_type");
    refused_with(0, "{\"code\":\"12345\"}", NULL, "bad_code");
    refused_with(0, "{\"code\":\"1234567\"}", NULL, "bad_code");
    refused_with(0, "{\"code\":\"12345a\"}", NULL, "bad_code");
    refused_with(0, "{\"code\":\"\xd9\xa1\xd9\xa2\xd9\xa3\xd9\xa4\xd9\xa5\xd9\xa6\"}", NULL, "bad_code");
    refused_with(0, NULL, "code", "bad_code");
    refused_with(0, NULL, "pcPeerId", "missing_peer_id");
    refused_with(0, "{\"pcPeerId\":\"\"}", NULL, "missing_peer_id");
    refused_with(301000, NULL, NULL, "expired");
    /* The checks have an order: the first that fails gives the reason. */
    refused_with(301000, "{\"type\":\"x\",\"code\":\"1\",\"pcPeerId\":\"\"}", NULL, "wrong_type");
    refused_with(301000, "{\"code\":\"1\",\"pcPeerId\":\"\"}", NULL, "bad_code");
    refused_with(301000, "{\"pcPeerId\":\"\"}", NULL, "missing_peer_id");
    /* 4 min 50 s old is not expired: the next thing that fails is the relay. */
    refused_with(290000, NULL, NULL, "relay_unreachable");
    refused_with(0, "{\"signalingUrl\":null}", NULL, "no_relay");
    refused_with(0, NULL, "signalingUrl", "no_relay");
    CHECK_STATUS(bw_device_close(device), BW_OK);
}

static void bad_parameters(void)
{
    char *code = code_with(0, NULL, NULL);
    device = open_device(":memory:");
    CHECK_STATUS(bw_pairing_scan(device, NULL, 1000, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_pairing_scan(device, code, 0, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_pairing_scan(device, code, -1, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_pairing_scan(device, code, 600001, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_pairing_scan(device, "\xff\xfe", 1000, NULL), BW_E_INVALID);
    CHECK_STATUS(bw_pairing_cancel(device, "scan"), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    free(code);
}

/* A relay that is there, and a desktop that is not. */
static void absent_desktop(void)
{
    char members[96];
    bw_relay *relay = open_relay();
    device = open_device(":memory:");
    CHECK_STATUS(bw_relay_start(relay), BW_OK);
    snprintf(members, sizeof members, "{\"signalingUrl\":\"ws://127.0.0.1:%d\"}", relay_port(relay));
    refused_with(0, members, NULL, "desktop_offline");
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_STATUS(bw_relay_close(relay), BW_OK);
}

/* A device that accepts none but desktops with proof refuses those without. */
static void proof_wanted(void)
{
    device = NULL;
    CHECK_STATUS(bw_device_open("{\"state_dir\":\":memory:\",\"legacy\":\"none\"}", &device), BW_OK);
    refused_with(0, NULL, NULL, "not_secure");
    CHECK_STATUS(bw_device_close(device), BW_OK);
}

/* ---- ending a scan ------------------------------------------------------------------------------------------- */

static int listener;

/* A code whose relay takes the connection and never answers. */
static char *silent_code(void)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    char members[96];
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 8) == 0
              && getsockname(listener, (struct sockaddr *)&address, &size) == 0,
          "a socket listens");
    snprintf(members, sizeof members, "{\"signalingUrl\":\"ws://127.0.0.1:%d\"}", ntohs(address.sin_port));
    return code_with(0, members, NULL);
}

static void scan_in_time(void)
{
    char *code = silent_code();
    int64_t begin = monotonic_ms();
    int64_t took;
    device = open_device(":memory:");
    CHECK_STATUS(bw_pairing_scan(device, code, 300, NULL), BW_E_PAIRING);
    took = monotonic_ms() - begin;
    CHECK(took >= 300 && took < within(5000), "a scan ends when its time is over");
    CHECK_ERROR(BW_E_PAIRING, "\"relay_unreachable\"");
    CHECK_STATUS(bw_device_close(device), BW_OK);
    close(listener);
    free(code);
}

static void cancelled(void)
{
    struct outcome outcome;
    struct record record;
    char *code = silent_code();
    memset(&outcome, 0, sizeof outcome);
    record_begin(&record);
    device = open_device(":memory:");
    CHECK_STATUS(bw_device_subscribe(device, "pairing.changed", record_event, &record, record_destroy, NULL), BW_OK);
    CHECK_STATUS(bw_pairing_scan_async(device, code, 60000, complete, &outcome, outcome_destroy), BW_OK);
    CHECK_STATUS(bw_pairing_cancel(device, "scan"), BW_OK);
    CHECK(dispatch_until(only_device(device), completed, &outcome, 5000), "the completion comes");
    CHECK_NUMBER(outcome.status, BW_E_PAIRING);
    CHECK_TEXT(outcome.reason, "cancelled");
    record.wanted = 1;
    CHECK(dispatch_until(only_device(device), recorded, &record, 5000), "an event says it as well");
    CHECK(has_event(&record, "pairing.changed", "flow", "scan"), "it is about the scan");
    CHECK(has_event(&record, "pairing.changed", "state", "failed"), "which failed");
    CHECK_STATUS(bw_pairing_cancel(device, "scan"), BW_OK);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_NUMBER(outcome.calls, 1);
    CHECK_NUMBER(outcome.destroyed, 1);
    record_end(&record);
    close(listener);
    free(code);
}

static void replaced(void)
{
    struct outcome first, second;
    char *code = silent_code();
    char *newer;
    memset(&first, 0, sizeof first);
    memset(&second, 0, sizeof second);
    device = open_device(":memory:");
    CHECK_STATUS(bw_pairing_scan_async(device, code, 60000, complete, &first, outcome_destroy), BW_OK);
    newer = strdup(code);
    memcpy(strstr(newer, "012345"), "543210", 6);
    CHECK_STATUS(bw_pairing_scan_async(device, newer, 60000, complete, &second, outcome_destroy), BW_OK);
    free(newer);
    CHECK(dispatch_until(only_device(device), completed, &first, 5000), "a newer scan ends the older one");
    CHECK_TEXT(first.reason, "cancelled");
    CHECK_NUMBER(second.calls, 0);
    CHECK_STATUS(bw_device_close(device), BW_OK);
    CHECK_NUMBER(second.status, BW_E_CLOSED);
    CHECK_NUMBER(first.calls, 1);
    CHECK_NUMBER(second.calls, 1);
    CHECK_NUMBER(first.destroyed, 1);
    CHECK_NUMBER(second.destroyed, 1);
    close(listener);
    free(code);
}

int main(int argc, char **argv)
{
    RUN(bad_codes);
    RUN(bad_parameters);
    RUN(absent_desktop);
    RUN(proof_wanted);
    RUN(scan_in_time);
    RUN(cancelled);
    RUN(replaced);
    return check_end();
}
