"""Reads signed checkpoints (C2SP signed-note and tlog-checkpoint) and checks them: Ed25519, as RFC 8032 says it.

Plain Python, and slow. It signs nothing and keeps no secret.
"""

import re
from base64 import b64decode
from hashlib import sha256, sha512

NOTE = re.compile("([^\n]+)\n([0-9]+)\n([^\n]+)\n\n((?:\u2014 [^\n ]+ [^\n ]+\n)+)")

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def add(a, b):
    """The sum of two points in extended coordinates."""
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    g, h = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    return (f - e) * (h - g) % P, (h + g) * (f + e) % P, (h - g) * (h + g) % P, (f - e) * (f + e) % P


def times(number, point):
    """A multiple of a point."""
    found = (0, 1, 1, 0)
    while number:
        if number & 1:
            found = add(found, point)
        point, number = add(point, point), number >> 1
    return found


def decode(data):
    """The point that 32 bytes stand for; None where they stand for none."""
    y, sign = int.from_bytes(data, "little") & (2**255 - 1), data[31] >> 7
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or (x * x - square) % P or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


def holds(public, text, signature):
    """Whether a signature over a text is that of the owner of a public key."""
    if len(public) != 32 or len(signature) != 64:
        return False
    key, r, s = decode(public), decode(signature[:32]), int.from_bytes(signature[32:], "little")
    if key is None or r is None or s >= ORDER:
        return False
    k = int.from_bytes(sha512(signature[:32] + public + text).digest(), "little") % ORDER
    left, right = times(s, decode(bytes([0x58] + [0x66] * 31))), add(r, times(k, key))
    return all((left[i] * right[2] - right[i] * left[2]) % P == 0 for i in (0, 1))


def read_keys(texts):
    """Public keys, each `NAME+KEYID+BASE64`, by name and key id."""
    keys = {}
    for text in texts:
        name, key_id, data = text.split("+", 2)
        raw = b64decode(data)
        if raw[:1] != b"\1" or sha256(name.encode() + b"\n" + raw).digest()[:4].hex() != key_id:
            raise SystemExit(f"'{text}' is no Ed25519 key")
        keys[name, bytes.fromhex(key_id)] = raw[1:]
    return keys


def read_notes(text, keys):
    """Size, root and whether a known key signed it (None where no key is known), of each checkpoint in a text."""
    for origin, size, root, lines in NOTE.findall(text):
        body, checked = f"{origin}\n{size}\n{root}\n".encode(), []
        for line in lines.splitlines():
            _, name, data = line.split(" ")
            raw = b64decode(data)
            if (name, raw[:4]) in keys:
                checked.append(holds(keys[name, raw[:4]], body, raw[4:]))
        yield int(size), b64decode(root), (bool(checked) and all(checked)) if keys else None
