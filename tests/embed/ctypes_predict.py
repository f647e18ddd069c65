# SPDX-License-Identifier: MIT
"""The shared library from Python, without anything compiled.

usage: ctypes_predict.py LIBRARY ARCH HEX        prints the cycles of an iteration
"""
import ctypes
import sys


class Prediction(ctypes.Structure):
    """The beginning of struct tact_prediction; what follows is not looked at."""
    _fields_ = [('size', ctypes.c_size_t), ('cycles_per_iteration', ctypes.c_double),
                ('coverage', ctypes.c_double), ('rest', ctypes.c_char * 2048)]


class Diag(ctypes.Structure):
    _fields_ = [('line', ctypes.c_uint64), ('offset', ctypes.c_uint64), ('text', ctypes.c_char * 240)]


def main():
    library, arch_name, hex_text = sys.argv[1:]
    tact = ctypes.CDLL(library)
    tact.tact_arch_find.restype = ctypes.c_void_p
    tact.tact_strerror.restype = ctypes.c_char_p
    code = bytes.fromhex(hex_text)
    block = ctypes.c_void_p()
    diag = Diag()
    prediction = Prediction(size=ctypes.sizeof(Prediction))

    def check(status):
        if status < 0:
            raise SystemExit('%s: %s' % (tact.tact_strerror(status).decode(), diag.text.decode()))

    arch = ctypes.c_void_p(tact.tact_arch_find(arch_name.encode()))
    check(tact.tact_block_create(ctypes.byref(block), arch, None, ctypes.byref(diag)))
    check(tact.tact_block_load(block, code, ctypes.c_size_t(len(code)), ctypes.byref(diag)))
    check(tact.tact_predict(block, None, ctypes.byref(prediction)))
    tact.tact_block_destroy(block)
    print('%.2f' % prediction.cycles_per_iteration)


if __name__ == '__main__':
    main()
