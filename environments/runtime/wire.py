"""Names of tools on the wire: `<env>__<tool>`, because harnesses mangle dots differently."""

import hashlib
import re

MAX_LENGTH = 50
_UNSAFE = re.compile(r"[^A-Za-z0-9_]")


def wire_name(name: str) -> str:
    """The wire name of a canonical tool name: at most 50 letters, digits and underscores, with a short hash where cut.

    >>> wire_name("retail_orders.cancel_order")
    'retail_orders__cancel_order'
    """
    plain = _UNSAFE.sub("_", name.replace(".", "__"))
    if len(plain) <= MAX_LENGTH:
        return plain
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{plain[: MAX_LENGTH - 9]}_{digest}"


def wire_names(names: list[str]) -> dict[str, str]:
    """Wire name -> canonical name for the tools of one mount.

    Raises:
        ValueError: two tools would share a wire name.
    """
    table: dict[str, str] = {}
    for name in names:
        wire = wire_name(name)
        if wire in table:
            raise ValueError(f"tools {table[wire]} and {name} share the wire name {wire}")
        table[wire] = name
    return table
