"""Namespaces of SSP 1.0, and its official schemas, which come with fmpy."""

from __future__ import annotations

import re
from copy import deepcopy
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from lxml import etree

from dockfmu.master.fmi.archive import parse_xml
from dockfmu.ssp.model import SspError

SSD = "http://ssp-standard.org/SSP1/SystemStructureDescription"
SSC = "http://ssp-standard.org/SSP1/SystemStructureCommon"
SSV = "http://ssp-standard.org/SSP1/SystemStructureParameterValues"
SSM = "http://ssp-standard.org/SSP1/SystemStructureParameterMapping"
SSB = "http://ssp-standard.org/SSP1/SystemStructureSignalDictionary"
PREFIXES = {"ssd": SSD, "ssc": SSC, "ssv": SSV, "ssm": SSM, "ssb": SSB}

# documents inside a description, which the schema of the description does not check
_INSIDE = (f"{{{SSV}}}ParameterSet", f"{{{SSM}}}ParameterMapping", f"{{{SSB}}}SignalDictionary")

_FILES = {
    SSD: "SystemStructureDescription.xsd",
    SSV: "SystemStructureParameterValues.xsd",
    SSM: "SystemStructureParameterMapping.xsd",
    SSB: "SystemStructureSignalDictionary.xsd",
}


@cache
def _schema(namespace: str) -> etree.XMLSchema:
    # importing fmpy itself would take a tenth of a second
    found = find_spec("fmpy")
    assert found is not None
    assert found.origin is not None
    folder = Path(found.origin).parent / "ssp" / "schema"
    return etree.XMLSchema(etree.parse(str(folder / _FILES[namespace])))


def faults(root: etree._Element) -> list[str]:
    """Return the schema violations of a document, and of documents inside it, as "line N: message"."""
    inside = [element for tag in _INSIDE for element in root.iter(tag) if element is not root]
    return [fault for element in (root, *inside) for fault in _faults(element)]


def _unsupported(root: etree._Element) -> str | None:
    """Return a sentence about the version of a document if it is unsupported, None for SSP 1.0.

    Parameter sets, mappings and dictionaries that call themselves version 2 (OMSimulator writes that) are read if they
    are valid in 1.0: what both versions have means the same.
    """
    version = root.get("version", "1.0")
    if _older(root) is not None:
        return None
    family = re.match(r"http://ssp-standard\.org/SSP(\d+)/", etree.QName(root).namespace or "")
    if family is None or (family[1] == "1" and version.startswith("1.")):
        return None
    found = version if family[1] == "1" else f"{family[1]}, version {version}"
    return f"this document is in SSP {found}; only SSP 1.0 is supported: export the package as SSP 1.0"


def _older(root: etree._Element) -> etree._Element | None:
    """Return a document that calls itself version 2 as one of version 1.0, None if it is not valid there."""
    if root.tag not in _INSIDE or not root.get("version", "").startswith("2."):
        return None
    older = deepcopy(root)
    older.set("version", "1.0")
    return older if _schema(etree.QName(root).namespace or "").validate(older) else None


def _faults(root: etree._Element) -> list[str]:
    namespace = etree.QName(root).namespace or ""
    if (unsupported := _unsupported(root)) is not None:
        return [f"line {root.sourceline}: {unsupported}"]
    if namespace not in _FILES:
        return [f"line {root.sourceline}: {root.tag} is not the root of an SSP 1.0 document"]
    schema = _schema(namespace)
    if schema.validate(root) or _older(root) is not None:
        return []
    return [f"line {entry.line}: {_short(entry.message)}" for entry in schema.error_log]  # type: ignore[attr-defined]


def _short(message: str) -> str:
    """Return a message of the schema validator with long quoted values shortened."""
    return re.sub(r"'([^']{40})[^']{20,}([^']{10})'", r"'\1...\2'", message)


def parse(data: bytes, where: str, root: str) -> etree._Element:
    """Return the root element of a document, which must be valid and have the tag `root`.

    Raises SspError or ArchiveError with `where` and the first five faults.
    """
    element = parse_xml(data, where)
    if (unsupported := _unsupported(element)) is not None:
        raise SspError(f"{where}: {unsupported}")
    if element.tag != root:
        raise SspError(f"{where}: the root element is {element.tag}, not {root}")
    found = faults(element)
    if found:
        raise SspError(f"{where}: " + "; ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else ""))
    return element
