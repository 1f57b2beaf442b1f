"""The package has everything that porous.h has, and lays it out alike."""

import ctypes
import unittest
from enum import IntEnum

import header
import porous
from porous import _library, _structs

#: What only programs of C need.
NOT_IN_PYTHON = {"POROUS_VERSION_MAJOR", "POROUS_VERSION_MINOR", "POROUS_VERSION_PATCH"}

#: The beginnings of the names of constants, and where they are in Python.
FAMILIES = {
    "POROUS_ERR_": porous.Status,
    "POROUS_ADDRESS_": porous.AddressKind,
    "POROUS_PRESET_": porous.Preset,
    "POROUS_POLICY_": porous.Policy,
    "POROUS_CONGESTION_": porous.Congestion,
    "POROUS_INTEGRITY_": porous.Integrity,
    "POROUS_SUITE_": porous.Suite,
    "POROUS_ECN_": porous.Ecn,
    "POROUS_IDS_": porous.Ids,
    "POROUS_LISTEN_": porous.Listen,
    "POROUS_EVENT_": porous.EventType,
    "POROUS_OUTCOME_": porous.Outcome,
    "POROUS_OUTPUT_": porous.OutputType,
    "POROUS_REASON_": porous.Reason,
    "POROUS_STATE_": porous.State,
}
MODES = {"POROUS_UNRELIABLE", "POROUS_RELIABLE", "POROUS_PASSIVE"}


def place(name):
    """Where a constant is in Python, and under which name."""
    if name in MODES:
        return porous.Mode, name[len("POROUS_") :]
    if name == "POROUS_OK":
        return porous.Status, "OK"
    for begin, kind in FAMILIES.items():
        if name.startswith(begin):
            return kind, name[len(begin) :]
    return porous, name[len("POROUS_") :]


def kind_of(c_type):
    """The sort of a type of C, by which an argument is passed."""
    if "*" in c_type or c_type in ("porous_release", "porous_told", "porous_alloc", "porous_dealloc"):
        return "pointer"
    return {"porous_status": "int32_t", "porous_peer": "uint64_t"}.get(c_type, c_type)


CTYPES = {
    ctypes.c_uint8: "uint8_t",
    ctypes.c_uint32: "uint32_t",
    ctypes.c_uint64: "uint64_t",
    ctypes.c_int32: "int32_t",
    ctypes.c_void_p: "pointer",
    ctypes.c_char_p: "pointer",
    None: "void",
}
# Of these types, some are the same as those above.
SIZE_T = {"size_t": ctypes.c_size_t, "ptrdiff_t": ctypes.c_ssize_t}


def fits(c_type, argument):
    kind = kind_of(c_type)
    if kind in SIZE_T:
        return argument is SIZE_T[kind]
    if kind == "pointer" and argument not in CTYPES:
        return issubclass(argument, (ctypes._Pointer, ctypes._CFuncPtr))
    bases = argument.__mro__ if argument else [None]
    return any(CTYPES.get(base, "") == kind for base in bases)


class TestHeader(unittest.TestCase):
    def test_every_constant_has_its_name_and_number(self):
        constants = header.constants()
        self.assertGreater(len(constants), 120)
        for name, number in constants.items():
            if name not in NOT_IN_PYTHON:
                where, there = place(name)
                self.assertEqual(getattr(where, there, None), number, name)

    def test_no_constant_is_made_up(self):
        numbers = header.constants()
        known = {place(name) for name in numbers}
        for kind in {*FAMILIES.values(), porous.Mode}:
            self.assertTrue(issubclass(kind, IntEnum))
            for member in kind:
                if (kind, member.name) != (porous.State, "NONE"):
                    self.assertIn((kind, member.name), known)

    def test_every_struct_is_laid_out_as_in_c(self):
        structs = header.structs()
        self.assertEqual(set(structs), set(_structs.STRUCTS))
        for name, fields in structs.items():
            struct = _structs.STRUCTS[name]
            here = [(field.rstrip("_"), getattr(struct, field).offset, getattr(struct, field).size)
                    for field, _ in struct._fields_]
            self.assertEqual(here, fields, name)
            self.assertEqual(ctypes.sizeof(struct), fields[-1][1] + fields[-1][2], name)

    def test_every_function_is_declared_as_in_c(self):
        functions = header.functions()
        self.assertGreater(len(functions), 80)
        self.assertEqual(set(functions), {*_library.FUNCTIONS, *_library.OTHERS})
        for name, (returns, takes) in functions.items():
            answers, arguments = _library.OTHERS.get(name) or (ctypes.c_int32, _library.FUNCTIONS[name])
            self.assertTrue(fits(returns, answers), name)
            self.assertEqual(len(arguments), len(takes), name)
            for argument, c_type in zip(arguments, takes):
                self.assertTrue(fits(c_type, argument), f"{name}: {c_type} is not {argument}")

    def test_every_status_has_an_error_with_a_text(self):
        for status in porous.Status:
            error = porous._errors.error_of(status)
            self.assertIsInstance(error, porous.Error)
            self.assertIs(error.status, status)

    def test_every_public_name_is_there(self):
        for name in porous.__all__:
            self.assertTrue(hasattr(porous, name), name)


if __name__ == "__main__":
    unittest.main()
