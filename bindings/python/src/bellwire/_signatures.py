"""The declarations of include/bellwire.h for ctypes: every type, function, status and constant.

A test reads the header with a C parser and compares it with these tables, so that they cannot drift apart.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum, IntFlag
from typing import Any

#: The ABI that this package was written for: BW_ABI_VERSION.
ABI_VERSION = 1


class Status(IntEnum):
    """The result of a call: 0 = done, > 0 = accepted with a note, < 0 = failed. Names as in C, without ``BW_``."""

    OK = 0
    QUEUED = 1
    E_INVALID = -1
    E_HANDLE = -2
    E_BUSY = -3
    E_OFFLINE = -4
    E_TIMEOUT = -5
    E_REMOTE = -6
    E_PROTOCOL = -7
    E_DENIED = -8
    E_UNSUPPORTED = -9
    E_STORE = -10
    E_CLOSED = -11
    E_FORKED = -12
    E_NO_MEMORY = -13
    E_IO = -14
    E_NETWORK = -15
    E_PAIRING = -16
    E_NOT_FOUND = -17
    E_LIMIT = -18


class LogLevel(IntEnum):
    """The severity of a log line."""

    DEBUG = 0
    INFO = 1
    WARNING = 2
    ERROR = 3


class Presentation(IntFlag):
    """How an alert is shown; a sum."""

    NOTHING = 0
    BANNER = 1
    SOUND = 2
    BADGE = 4
    LIST = 8
    ALL = 15


STATUS = INT32 = ctypes.c_int32
INT64 = ctypes.c_int64
DOUBLE = ctypes.c_double
SIZE = ctypes.c_size_t
SUBSCRIPTION = ctypes.c_uint64
#: A handle is a number in a table; as a pointer type, for it has a pointer's size.
HANDLE = POINTER = ctypes.c_void_p
TEXT = ctypes.c_char_p
BYTES = ctypes.c_char_p
#: A text that the caller frees: as c_char_p ctypes would copy it and lose the pointer.
OWNED_TEXT = ctypes.c_void_p
HANDLE_OUT = TEXT_OUT = ctypes.POINTER(ctypes.c_void_p)
SIZE_OUT = ctypes.POINTER(ctypes.c_size_t)
INT64_OUT = ctypes.POINTER(ctypes.c_int64)
SUBSCRIPTION_OUT = ctypes.POINTER(ctypes.c_uint64)

# CFUNCTYPE, which gives the GIL back in calls and takes it in callbacks.
Destroy = ctypes.CFUNCTYPE(None, POINTER)
LogCallback = ctypes.CFUNCTYPE(None, POINTER, INT32, TEXT)
Completion = ctypes.CFUNCTYPE(None, POINTER, STATUS, TEXT)
EventCallback = ctypes.CFUNCTYPE(None, POINTER, TEXT, TEXT)
AuthorizeCallback = ctypes.CFUNCTYPE(None, POINTER, TEXT)
WillPresentCallback = ctypes.CFUNCTYPE(INT32, POINTER, TEXT)
PresentCallback = ctypes.CFUNCTYPE(INT32, POINTER, TEXT)

#: name: (result, parameters). The methods' own are added by _methods.py.
FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "bw_version": (TEXT, ()),
    "bw_abi_version": (INT32, ()),
    "bw_status_name": (TEXT, (STATUS,)),
    "bw_free": (None, (POINTER,)),
    "bw_last_error": (OWNED_TEXT, ()),
    "bw_set_log": (STATUS, (INT32, LogCallback, POINTER, Destroy)),
    "bw_device_open": (STATUS, (TEXT, HANDLE_OUT)),
    "bw_device_start": (STATUS, (HANDLE,)),
    "bw_device_stop": (STATUS, (HANDLE,)),
    "bw_device_suspend": (STATUS, (HANDLE,)),
    "bw_device_resume": (STATUS, (HANDLE,)),
    "bw_device_close": (STATUS, (HANDLE,)),
    "bw_device_fd": (INT32, (HANDLE,)),
    "bw_device_dispatch": (STATUS, (HANDLE,)),
    "bw_device_run": (STATUS, (HANDLE, INT32)),
    "bw_device_quit": (STATUS, (HANDLE,)),
    "bw_device_state": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_pairing_scan": (STATUS, (HANDLE, TEXT, INT32, TEXT_OUT)),
    "bw_pairing_scan_async": (STATUS, (HANDLE, TEXT, INT32, Completion, POINTER, Destroy)),
    "bw_pairing_show": (STATUS, (HANDLE, INT32, TEXT_OUT)),
    "bw_pairing_show_async": (STATUS, (HANDLE, INT32, Completion, POINTER, Destroy)),
    "bw_pairing_type": (STATUS, (HANDLE, TEXT, INT32, TEXT_OUT)),
    "bw_pairing_type_async": (STATUS, (HANDLE, TEXT, INT32, Completion, POINTER, Destroy)),
    "bw_pairing_cancel": (STATUS, (HANDLE, TEXT)),
    "bw_pairing_confirm": (STATUS, (HANDLE, TEXT, INT32)),
    "bw_pairing_list": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_pairing_rename": (STATUS, (HANDLE, TEXT, TEXT)),
    "bw_pairing_unpair": (STATUS, (HANDLE, TEXT)),
    "bw_pairing_clear": (STATUS, (HANDLE,)),
    "bw_device_revoke": (STATUS, (HANDLE, TEXT)),
    "bw_device_readmit": (STATUS, (HANDLE, TEXT)),
    "bw_device_revoked": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_device_rekey": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_device_rekey_cancel": (STATUS, (HANDLE,)),
    "bw_device_rekey_status": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_device_rekey_confirm": (STATUS, (HANDLE, TEXT, TEXT, INT32)),
    "bw_device_invoke": (STATUS, (HANDLE, TEXT, TEXT, TEXT, INT32, TEXT_OUT)),
    "bw_device_invoke_async": (STATUS, (HANDLE, TEXT, TEXT, TEXT, INT32, Completion, POINTER, Destroy)),
    "bw_inbox_load": (STATUS, (HANDLE, TEXT, TEXT_OUT)),
    "bw_inbox_state": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_inbox_settings": (STATUS, (HANDLE, TEXT, TEXT_OUT)),
    "bw_inbox_refresh": (STATUS, (HANDLE, TEXT, INT32, TEXT_OUT)),
    "bw_inbox_refresh_async": (STATUS, (HANDLE, TEXT, INT32, Completion, POINTER, Destroy)),
    "bw_inbox_mark_read": (STATUS, (HANDLE, TEXT, TEXT, INT32, TEXT_OUT)),
    "bw_inbox_mark_read_async": (STATUS, (HANDLE, TEXT, TEXT, INT32, Completion, POINTER, Destroy)),
    "bw_inbox_mark_all_read": (STATUS, (HANDLE, TEXT, INT32, TEXT_OUT)),
    "bw_inbox_mark_all_read_async": (STATUS, (HANDLE, TEXT, INT32, Completion, POINTER, Destroy)),
    "bw_inbox_delete": (STATUS, (HANDLE, TEXT, TEXT, INT32, TEXT_OUT)),
    "bw_inbox_delete_async": (STATUS, (HANDLE, TEXT, TEXT, INT32, Completion, POINTER, Destroy)),
    "bw_inbox_clear": (STATUS, (HANDLE, TEXT, INT32, TEXT_OUT)),
    "bw_inbox_clear_async": (STATUS, (HANDLE, TEXT, INT32, Completion, POINTER, Destroy)),
    "bw_queue_list": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_queue_remove": (STATUS, (HANDLE, TEXT)),
    "bw_queue_retry": (STATUS, (HANDLE, TEXT)),
    "bw_queue_clear": (STATUS, (HANDLE, INT64)),
    "bw_alerts_state": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_alerts_request": (STATUS, (HANDLE, TEXT, INT32, TEXT_OUT)),
    "bw_alerts_request_async": (STATUS, (HANDLE, TEXT, INT32, Completion, POINTER, Destroy)),
    "bw_alerts_authorize": (STATUS, (HANDLE, TEXT, INT64)),
    "bw_alerts_on_authorize": (STATUS, (HANDLE, AuthorizeCallback, POINTER, Destroy)),
    "bw_alerts_on_will_present": (STATUS, (HANDLE, WillPresentCallback, POINTER, Destroy)),
    "bw_alerts_in_front": (STATUS, (HANDLE, INT32)),
    "bw_alerts_on_present": (STATUS, (HANDLE, PresentCallback, POINTER, Destroy)),
    "bw_alerts_respond": (STATUS, (HANDLE, TEXT, TEXT, TEXT, TEXT)),
    "bw_alerts_categories": (STATUS, (HANDLE, TEXT)),
    "bw_alerts_settings": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_alerts_set_settings": (STATUS, (HANDLE, TEXT, TEXT_OUT)),
    "bw_alerts_settings_open": (STATUS, (HANDLE,)),
    "bw_alerts_delivered": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_alerts_remove": (STATUS, (HANDLE, TEXT, TEXT, TEXT)),
    "bw_alerts_badge": (STATUS, (HANDLE, INT64)),
    "bw_reminder_add": (STATUS, (HANDLE, TEXT, TEXT_OUT)),
    "bw_reminder_list": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_reminder_remove": (STATUS, (HANDLE, TEXT, TEXT)),
    "bw_reminder_position": (STATUS, (HANDLE, DOUBLE, DOUBLE, DOUBLE)),
    "bw_device_subscribe": (STATUS, (HANDLE, TEXT, EventCallback, POINTER, Destroy, SUBSCRIPTION_OUT)),
    "bw_device_unsubscribe": (STATUS, (HANDLE, SUBSCRIPTION)),
    "bw_device_post": (STATUS, (HANDLE, TEXT, TEXT)),
    "bw_device_token": (STATUS, (HANDLE, TEXT, BYTES, SIZE)),
    "bw_device_clear_token": (STATUS, (HANDLE, TEXT)),
    "bw_device_receive": (STATUS, (HANDLE, TEXT, TEXT, TEXT_OUT)),
    "bw_device_complete": (STATUS, (HANDLE, TEXT, TEXT)),
    "bw_desktop_open": (STATUS, (TEXT, HANDLE_OUT)),
    "bw_desktop_start": (STATUS, (HANDLE,)),
    "bw_desktop_stop": (STATUS, (HANDLE,)),
    "bw_desktop_close": (STATUS, (HANDLE,)),
    "bw_desktop_fd": (INT32, (HANDLE,)),
    "bw_desktop_dispatch": (STATUS, (HANDLE,)),
    "bw_desktop_run": (STATUS, (HANDLE, INT32)),
    "bw_desktop_quit": (STATUS, (HANDLE,)),
    "bw_desktop_state": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_desktop_subscribe": (STATUS, (HANDLE, TEXT, EventCallback, POINTER, Destroy, SUBSCRIPTION_OUT)),
    "bw_desktop_unsubscribe": (STATUS, (HANDLE, SUBSCRIPTION)),
    "bw_desktop_post": (STATUS, (HANDLE, TEXT, TEXT)),
    "bw_desktop_offer": (STATUS, (HANDLE, INT32, TEXT_OUT)),
    "bw_desktop_offer_async": (STATUS, (HANDLE, INT32, Completion, POINTER, Destroy)),
    "bw_desktop_scan": (STATUS, (HANDLE, TEXT, TEXT_OUT)),
    "bw_desktop_code": (STATUS, (HANDLE, INT32, TEXT_OUT)),
    "bw_desktop_code_async": (STATUS, (HANDLE, INT32, Completion, POINTER, Destroy)),
    "bw_desktop_pairing_cancel": (STATUS, (HANDLE, TEXT)),
    "bw_desktop_confirm": (STATUS, (HANDLE, TEXT, INT32)),
    "bw_desktop_devices": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_desktop_tokens": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_desktop_seal_push": (STATUS, (HANDLE, TEXT, TEXT, TEXT, TEXT_OUT)),
    "bw_desktop_rename": (STATUS, (HANDLE, TEXT, TEXT)),
    "bw_desktop_unpair": (STATUS, (HANDLE, TEXT)),
    "bw_desktop_clear": (STATUS, (HANDLE,)),
    "bw_desktop_revoke": (STATUS, (HANDLE, TEXT)),
    "bw_desktop_readmit": (STATUS, (HANDLE, TEXT)),
    "bw_desktop_revoked": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_desktop_rekey": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_desktop_rekey_cancel": (STATUS, (HANDLE,)),
    "bw_desktop_rekey_status": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_desktop_rekey_confirm": (STATUS, (HANDLE, TEXT, TEXT, INT32)),
    "bw_desktop_permissions": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_desktop_allow": (STATUS, (HANDLE, TEXT, TEXT, TEXT)),
    "bw_desktop_skill_enable": (STATUS, (HANDLE, TEXT, INT32)),
    "bw_desktop_notify": (STATUS, (HANDLE, TEXT, INT32, TEXT_OUT)),
    "bw_desktop_notify_async": (STATUS, (HANDLE, TEXT, INT32, Completion, POINTER, Destroy)),
    "bw_desktop_history": (STATUS, (HANDLE, TEXT, TEXT_OUT)),
    "bw_desktop_invoke": (STATUS, (HANDLE, TEXT, TEXT, INT32, TEXT_OUT)),
    "bw_desktop_invoke_async": (STATUS, (HANDLE, TEXT, TEXT, INT32, Completion, POINTER, Destroy)),
    "bw_relay_open": (STATUS, (TEXT, HANDLE_OUT)),
    "bw_relay_start": (STATUS, (HANDLE,)),
    "bw_relay_stop": (STATUS, (HANDLE,)),
    "bw_relay_close": (STATUS, (HANDLE,)),
    "bw_relay_fd": (INT32, (HANDLE,)),
    "bw_relay_dispatch": (STATUS, (HANDLE,)),
    "bw_relay_run": (STATUS, (HANDLE, INT32)),
    "bw_relay_quit": (STATUS, (HANDLE,)),
    "bw_relay_subscribe": (STATUS, (HANDLE, TEXT, EventCallback, POINTER, Destroy, SUBSCRIPTION_OUT)),
    "bw_relay_unsubscribe": (STATUS, (HANDLE, SUBSCRIPTION)),
    "bw_relay_state": (STATUS, (HANDLE, TEXT_OUT)),
    "bw_json_text": (STATUS, (TEXT, TEXT, TEXT_OUT)),
    "bw_json_integer": (STATUS, (TEXT, TEXT, INT64_OUT)),
    "bw_qr_terminal": (STATUS, (TEXT, INT32, TEXT_OUT)),
    "bw_qr_svg": (STATUS, (TEXT, TEXT_OUT)),
    "bw_qr_png": (STATUS, (TEXT, INT32, TEXT_OUT, SIZE_OUT)),
    "bw_qr_read": (STATUS, (TEXT, TEXT_OUT)),
    "bw_qr_read_pixels": (STATUS, (BYTES, INT32, INT32, INT32, TEXT_OUT)),
}


def declare_methods(*names: str) -> None:
    """Adds the functions of BW_NOTIFICATION_METHODS, which have the same two types for each name."""
    for name in names:
        FUNCTIONS[f"bw_notification_{name}"] = (STATUS, (HANDLE, TEXT, TEXT, INT32, TEXT_OUT))
        completed = (HANDLE, TEXT, TEXT, INT32, Completion, POINTER, Destroy)
        FUNCTIONS[f"bw_notification_{name}_async"] = (STATUS, completed)
