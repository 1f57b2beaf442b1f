"""Finds the library, and declares the functions of porous.h."""

import ctypes
import ctypes.util
import os
import sys
from ctypes import POINTER, c_char_p, c_int32, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

from . import _enums, _structs
from ._enums import Status

_FILES = {"win32": "porous.dll", "darwin": "libporous.dylib"}

RELEASE = ctypes.CFUNCTYPE(None, c_void_p)
ALLOC = ctypes.CFUNCTYPE(c_void_p, c_void_p, c_size_t, c_size_t)
DEALLOC = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_size_t, c_size_t)
TOLD = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_size_t)



def _exact(kind: Any) -> Any:
    """A number that must be in range: ctypes alone would cut it."""

    class Exact(kind):  # type: ignore[misc]
        @classmethod
        def from_param(cls, value: int) -> Any:
            number = kind(value)
            if number.value != value:
                raise ValueError(f"{value} is out of range")
            return number

    return Exact


_U8, _U32, _COUNT = _exact(c_uint8), _exact(c_uint32), _exact(c_uint64)
_HOST = _THREAD = _PACKET = _BLOB = _TICKET = _DATA = c_void_p
_PEER = c_uint64
_ADDRESS, _CONFIG = POINTER(_structs.RawAddress), POINTER(_structs.RawConfig)
_OPTIONS, _RECEIVED = POINTER(_structs.RawSendOptions), POINTER(_structs.RawReceived)
_PROGRESS = POINTER(_structs.Progress)
_U64 = POINTER(c_uint64)
_OUT = POINTER(c_void_p)

#: The types of the arguments of each function that answers a status.
FUNCTIONS: Dict[str, List[Any]] = {
    "porous_check_abi": [_U32],
    "porous_address_parse": [c_char_p, _ADDRESS],
    "porous_address_format": [_ADDRESS, _DATA, c_size_t],
    "porous_resolve": [c_char_p, _ADDRESS, c_size_t],
    "porous_config_init": [_CONFIG, c_size_t, _U32],
    "porous_config_check": [_CONFIG],
    "porous_host_free": [_HOST],
    "porous_core_new": [_CONFIG, _DATA, _OUT],
    "porous_core_time": [_HOST, _COUNT],
    "porous_core_input": [_HOST, _ADDRESS, _U32, _DATA, c_size_t],
    "porous_core_output": [_HOST, POINTER(_structs.RawTransmit), _DATA, c_size_t],
    "porous_core_timeout": [_HOST],
    "porous_core_deadline": [_HOST, _U64],
    "porous_core_buffer_size": [_HOST, _U64],
    "porous_core_unreachable": [_HOST, _ADDRESS],
    "porous_core_port_closed": [_HOST, _ADDRESS],
    "porous_core_backlog": [_HOST, _U32],
    "porous_udp_bind": [_CONFIG, c_char_p, _OUT],
    "porous_udp_bind_shards": [_CONFIG, c_char_p, _U32, _OUT],
    "porous_udp_adopt": [_CONFIG, ctypes.c_ssize_t, _OUT],
    "porous_udp_step": [_HOST],
    "porous_udp_transmit": [_HOST],
    "porous_udp_wait": [_HOST, _COUNT],
    "porous_udp_close": [_HOST, _U32, _COUNT],
    "porous_udp_address": [_HOST, _ADDRESS],
    "porous_udp_socket": [_HOST, POINTER(ctypes.c_ssize_t)],
    "porous_udp_deadline": [_HOST, _U64],
    "porous_udp_is_blocked": [_HOST],
    "porous_udp_set_time_limit": [_HOST, _COUNT],
    "porous_udp_set_suffix": [_HOST, _ADDRESS, _DATA, c_size_t],
    "porous_listen": [_HOST, _U32],
    "porous_connect": [_HOST, _ADDRESS, _U64],
    "porous_connect_any": [_HOST, _ADDRESS, c_size_t, _DATA, c_size_t, _U64],
    "porous_accept": [_HOST, _PEER],
    "porous_refuse": [_HOST, _PEER, _DATA, c_size_t],
    "porous_disconnect": [_HOST, _PEER, _U32, _COUNT],
    "porous_disconnect_all": [_HOST, _U32, _COUNT],
    "porous_drain": [_HOST, _U32, _COUNT],
    "porous_is_empty": [_HOST],
    "porous_peers": [_HOST, _U64, c_size_t],
    "porous_peer_address": [_HOST, _PEER, _ADDRESS],
    "porous_peer_greeting": [_HOST, _PEER, _DATA, c_size_t],
    "porous_set_connection_ids": [_HOST, POINTER(_structs.RawConnectionIds)],
    "porous_poll_event": [_HOST, POINTER(_structs.RawEvent)],
    "porous_send_options_init": [_OPTIONS, c_size_t, _U32],
    "porous_send": [_HOST, _PEER, _U8, _U32, _DATA, c_size_t],
    "porous_send_with": [_HOST, _PEER, _U8, _DATA, c_size_t, _OPTIONS],
    "porous_send_blob": [_HOST, _PEER, _U8, _BLOB, _OPTIONS],
    "porous_cancel": [_HOST, _PEER, _U8, _COUNT],
    "porous_set_send_rate": [_HOST, _PEER, _U32],
    "porous_set_receive_rate": [_HOST, _PEER, _U32],
    "porous_set_channel_rate": [_HOST, _PEER, _U8, _U32],
    "porous_set_host_send_rate": [_HOST, _U32],
    "porous_receive": [_HOST, _PEER, _RECEIVED, _DATA, c_size_t],
    "porous_receive_packet": [_HOST, _PEER, _RECEIVED, _OUT],
    "porous_readable": [_HOST, _U64, c_size_t],
    "porous_blob_copy": [_DATA, c_size_t, _OUT],
    "porous_blob_wrap": [_DATA, c_size_t, RELEASE, c_void_p, _OUT],
    "porous_peer_info": [_HOST, _PEER, POINTER(_structs.PeerStats)],
    "porous_channel_info": [_HOST, _PEER, _U8, POINTER(_structs.ChannelStats)],
    "porous_host_info": [_HOST, POINTER(_structs.HostStats)],
    "porous_send_progress": [_HOST, _PEER, _U8, _COUNT, _PROGRESS],
    "porous_receive_progress": [_HOST, _PEER, _U8, _PROGRESS],
    "porous_peer_state": [_HOST, _PEER],
    "porous_core_unix_time": [_HOST, _COUNT],
    "porous_set_security": [_HOST, POINTER(_structs.RawSecurity)],
    "porous_key_generate": [_DATA],
    "porous_public_key": [_DATA, _DATA],
    "porous_connect_sealed": [_HOST, _ADDRESS, c_size_t, POINTER(_structs.RawCredentials), _U64],
    "porous_peer_secured": [_HOST, _PEER, POINTER(_structs.RawSecured)],
    "porous_peer_export": [_HOST, _PEER, _DATA, c_size_t, _DATA],
    "porous_ticket_mint": [_DATA, POINTER(_structs.RawClaims), _OUT],
    "porous_ticket_set_servers": [_TICKET, _ADDRESS, c_size_t],
    "porous_ticket_set_server_key": [_TICKET, _DATA, c_size_t],
    "porous_ticket_from_text": [c_char_p, _OUT],
    "porous_ticket_from_bytes": [_DATA, c_size_t, _OUT],
    "porous_ticket_to_text": [_TICKET, _DATA, c_size_t],
    "porous_ticket_to_bytes": [_TICKET, _DATA, c_size_t],
    "porous_ticket_servers": [_TICKET, _ADDRESS, c_size_t],
    "porous_ticket_server_key": [_TICKET, _DATA, c_size_t],
    "porous_ticket_token": [_TICKET, _DATA, c_size_t],
    "porous_ticket_psk": [_TICKET, _DATA],
    "porous_ticket_expires": [_TICKET, _U64],
    "porous_io_error_text": [_DATA, c_size_t],
    "porous_on_panic": [TOLD, c_void_p],
    "porous_set_allocator": [ALLOC, DEALLOC, c_void_p],
    "porous_memory": [_U64, _U64],
    "porous_thread_bind": [_CONFIG, c_char_p, _OUT],
    "porous_thread_adopt": [_CONFIG, ctypes.c_ssize_t, _OUT],
    "porous_thread_poll": [_THREAD, POINTER(_structs.RawOutput)],
    "porous_thread_address": [_THREAD, _ADDRESS],
    "porous_thread_stats": [_THREAD, POINTER(_structs.HostStats)],
    "porous_thread_peer_stats": [_THREAD, POINTER(_structs.PeerStats)],
    "porous_thread_close": [_THREAD, _U32, _COUNT],
    "porous_thread_free": [_THREAD],
    "porous_thread_listen": [_THREAD, _U32],
    "porous_thread_connect": [_THREAD, _ADDRESS, c_size_t, _DATA, c_size_t],
    "porous_thread_connect_sealed": [_THREAD, _ADDRESS, c_size_t, POINTER(_structs.RawCredentials)],
    "porous_thread_set_security": [_THREAD, POINTER(_structs.RawSecurity)],
    "porous_thread_accept": [_THREAD, _PEER],
    "porous_thread_refuse": [_THREAD, _PEER, _DATA, c_size_t],
    "porous_thread_send": [_THREAD, _PEER, _U8, _DATA, c_size_t, _OPTIONS],
    "porous_thread_send_blob": [_THREAD, _PEER, _U8, _BLOB, _OPTIONS],
    "porous_thread_send_packet": [_THREAD, _PEER, _U8, _PACKET],
    "porous_thread_cancel": [_THREAD, _PEER, _U8, _COUNT],
    "porous_thread_disconnect": [_THREAD, _PEER, _U32, _COUNT],
    "porous_thread_drain": [_THREAD, _U32, _COUNT],
    "porous_thread_set_suffix": [_THREAD, _ADDRESS, _DATA, c_size_t],
    "porous_thread_set_connection_ids": [_THREAD, POINTER(_structs.RawConnectionIds)],
    "porous_thread_ask_stats": [_THREAD],
    "porous_thread_ask_peer_stats": [_THREAD, _PEER],
    "porous_thread_ask_send_progress": [_THREAD, _PEER, _U8, _COUNT],
    "porous_thread_ask_receive_progress": [_THREAD, _PEER, _U8],
    "porous_thread_set_send_rate": [_THREAD, _PEER, _U32],
    "porous_thread_set_receive_rate": [_THREAD, _PEER, _U32],
    "porous_thread_set_channel_rate": [_THREAD, _PEER, _U8, _U32],
    "porous_thread_set_host_send_rate": [_THREAD, _U32],
    "porous_thread_greeting": [_THREAD, _PEER, _DATA, c_size_t],
    "porous_thread_secured": [_THREAD, _PEER, POINTER(_structs.RawSecured)],
}

#: The functions that answer something else: what, and the types of the arguments.
OTHERS: Dict[str, Tuple[Any, List[Any]]] = {
    "porous_version": (c_uint32, []),
    "porous_status_text": (c_char_p, [c_int32]),
    "porous_packet_data": (c_void_p, [_PACKET, POINTER(c_size_t)]),
    "porous_packet_free": (None, [_PACKET]),
    "porous_blob_free": (None, [_BLOB]),
    "porous_ticket_free": (None, [_TICKET]),
}


def _unsupported(*_: object) -> int:
    """In place of a function that this build of the library lacks."""
    return Status.UNSUPPORTED


def _declared(library: ctypes.CDLL, name: str, answers: Any, takes: List[Any]) -> Callable[..., Any]:
    function = getattr(library, name, None)
    if function is None:
        return _unsupported
    function.restype, function.argtypes = answers, takes
    return function


def _places() -> List[str]:
    """Where the library may be, the best place first."""
    name = _FILES.get(sys.platform, "libporous.so")
    named = os.environ.get("POROUS_LIB")
    if named:
        return [named]
    beside = Path(__file__).with_name(name)
    found = ctypes.util.find_library("porous")
    return [*([str(beside)] if beside.exists() else []), *([found] if found else []), name]


def _loaded() -> ctypes.CDLL:
    errors = []
    for place in _places():
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            errors.append(str(error))
    raise ImportError(
        "the library of porous was not found: build it by `cargo build --release -p porous-ffi`, and set POROUS_LIB "
        "to its path, or copy it beside this package's __init__.py (" + "; ".join(errors) + ")"
    )


class Library:
    """The functions of porous.h, without the beginning `porous_` of their names."""

    def __init__(self) -> None:
        self.file = _loaded()
        for name, takes in FUNCTIONS.items():
            setattr(self, name[len("porous_") :], _declared(self.file, name, c_int32, takes))
        for name, (answers, takes) in OTHERS.items():
            setattr(self, name[len("porous_") :], _declared(self.file, name, answers, takes))
        if self.check_abi(_enums.ABI) < 0:
            raise ImportError(f"{self.file._name} is of another version of porous than this package")

    def __getattr__(self, name: str) -> Callable[..., Any]:
        raise AttributeError(name)


library = Library()
