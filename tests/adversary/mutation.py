# SPDX-License-Identifier: Apache-2.0
"""Ways to damage a document. Each takes a random generator and bytes, and returns other bytes."""

import json

# What readers stumble over: numbers at their limits, empty and deep things, text of another kind.
NUMBERS = [b"0", b"-0", b"-1", b"1e308", b"1e309", b"-1e308", b"1e-320", b"9223372036854775807",
           b"9223372036854775808", b"18446744073709551616", b"NaN", b"Infinity", b"0x10", b"1e99999"]
TOKENS = NUMBERS + [b"null", b"true", b"[]", b"{}", b'""', b'"\\u0000"', b'"\\ud800"', b"\xff\xfe",
                    b"\x00", b'"', b"{", b"[", b"]", b"}", b",", b":", b"\n", b"  ", b"&a", b"*a",
                    b"- ", b"<<: ", b"!!str ", b"--- ", b"%", b"\xe2\x80\xae", b"\x1b[2J"]
VALUES = [None, True, False, 0, -1, 1, 2**31, 2**53, -2**63, 1e308, 1e-308, "", "x", "\x00", "../../x",
          "x" * 5000, [], {}, [[]], [None], {"": None}, "1999-01-01", "9999-12-31T00:00:00Z"]


def flip_bits(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def truncate(rng, data):
    return data[:rng.randrange(len(data))]


def cut_out(rng, data):
    begin = rng.randrange(len(data))
    return data[:begin] + data[begin + rng.choice((1, 2, 10, 100, 1000)):]


def repeat(rng, data):
    begin = rng.randrange(len(data))
    part = data[begin:begin + rng.choice((1, 10, 100, 1000))]
    return data[:begin] + part * rng.choice((2, 3, 100)) + data[begin + len(part):]


def put_in(rng, data):
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(TOKENS) + data[at:]


def nest(rng, data):
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice((b"[", b'{"a":', b"- ", b"? ")) * rng.choice((50, 5000)) + data[at:]


def swap_lines(rng, data):
    lines = data.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"\n".join(lines)


def lose_line(rng, data):
    lines = data.split(b"\n")
    del lines[rng.randrange(len(lines))]
    return b"\n".join(lines)


def replace_number(rng, data):
    """Some digits, whatever number they belong to."""
    places = [at for at, byte in enumerate(data) if 48 <= byte <= 57]
    if not places:
        return put_in(rng, data)
    begin = end = rng.choice(places)
    while end < len(data) and data[end:end + 1] in b"0123456789.eE+-":
        end += 1
    return data[:begin] + rng.choice(NUMBERS) + data[end:]


TEXT = (flip_bits, flip_bits, truncate, cut_out, repeat, put_in, nest, swap_lines, lose_line,
        replace_number, replace_number)


def places_of(value, found):
    """(container, key) of everything inside."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inside in items:
        found.append((value, key))
        if isinstance(inside, (dict, list)):
            places_of(inside, found)
    return found


def restructure(rng, data):
    """One to three changes to what a JSON document holds; it stays JSON."""
    document = json.loads(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = places_of(document, []) if isinstance(document, (dict, list)) else []
        if not places:
            break
        container, key = rng.choice(places)
        kind = rng.randrange(6)
        if kind <= 1:
            del container[key]
        elif kind == 2:
            container[key] = rng.choice(VALUES)
        elif kind == 3:
            other, other_key = rng.choice(places)
            container[key] = json.loads(json.dumps(other[other_key]))
        elif isinstance(container, list):
            container.extend([container[key]] * rng.choice((1, 1, 100)))
        elif kind == 4:
            container[str(key) + "_"] = container.pop(key)
        else:
            container[rng.choice(("", "x", "schema", "cases", "until"))] = rng.choice(VALUES)
    return json.dumps(document).encode()


def mutated(rng, data):
    """The document damaged in one way, which is never none at all."""
    while True:
        kinds = TEXT
        if data[:1] == b"{" and rng.random() < 0.5:
            kinds = (restructure,)
        try:
            result = rng.choice(kinds)(rng, data)
        except (ValueError, RecursionError):  # JSON lines; nested too deeply for Python's reader
            continue
        if result != data:
            return result
