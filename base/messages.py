"""Parts of messages: shortened values and texts, nouns with an article."""

from __future__ import annotations

import re
import reprlib

_LONGEST = 100
_NO_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _ShortRepr(reprlib.Repr):
    """Make a `repr` of bounded length and depth."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxlist, self.maxtuple, self.maxdict = 4, 20, 20, 8
        self.maxstring = self.maxother = _LONGEST

    def repr_int(self, value: int, level: int) -> str:
        # Python refuses to print integers of thousands of digits
        return repr(value) if value.bit_length() <= 128 else f"an integer of {value.bit_length()} bits"


def shown(value: object) -> str:
    """Return the `repr` of a value for a message, shortened if it is long."""
    return _ShortRepr().repr(value)


def shortened(text: str) -> str:
    """Return a text for a message, with an ellipsis in place of what is too much."""
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def with_article(noun: str) -> str:
    """Return a noun with its indefinite article, such as "an output"."""
    return f"{'an' if noun[:1] in set('aeiou') else 'a'} {noun}"


def no_xml(text: str) -> str:
    """Return the first character of a text that no XML can hold (XML 1.0, 2.2), such as U+001B; empty without one."""
    found = _NO_XML.search(text)
    return f"U+{ord(found[0]):04X}" if found else ""


def storable(text: str) -> str:
    """Return a text that any file and terminal can hold: NUL and code points that UTF-8 does not allow are escaped."""
    return text.replace("\0", "\\0").encode("utf-8", "backslashreplace").decode()
