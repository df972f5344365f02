"""JSON values that can be written down: JSON can escape halves of surrogate pairs, but no file and no pipe can hold them."""

import json
from typing import Any


def encodable(value: Any) -> Any:
    """A JSON value with `?` for lone surrogates.

    Raises:
        ValueError: it is no JSON value.
    """
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
