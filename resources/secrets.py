"""Variables from outside: read from the environment, else from `.env`. The only place that reads them, and with them the keys.

`.env` is looked for in the working directory of the command; `ABSTAIN_ENV_FILE` names another file. The environment wins. A key
is read when it is needed and never stored. From then on it is known here, so that texts of others (error messages, log lines) can
be freed of it before they are kept.
"""

import logging
import os
import re
import traceback
from pathlib import Path

from dotenv import dotenv_values

from abstain_assets.errors import BadInput

ENV_FILE_VARIABLE = "ABSTAIN_ENV_FILE"

# What is shorter is a placeholder like `ollama`, which may stand in any text.
_SHORTEST = 8
# Nothing that JSON, a URL or `repr` would write in another way.
_KEY = re.compile(r"[!#-\[\]-~]+")

_known: set[str] = set()


def env_file() -> Path:
    """Where `.env` is, whether or not it exists."""
    return Path(os.environ.get(ENV_FILE_VARIABLE) or ".env").expanduser().absolute()


def variable(name: str, file: Path | None = None) -> str | None:
    """A variable of the environment, else of `.env`; `None` where both lack it or leave it empty.

    Args:
        file: look there instead of in `.env`.

    Raises:
        BadInput: the file cannot be read.
    """
    if found := os.environ.get(name):
        return found
    path = file or env_file()
    try:
        return dotenv_values(path, encoding="utf-8-sig").get(name) or None
    except UnicodeDecodeError:
        raise BadInput(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}") from error


def secret(name: str, file: Path | None = None) -> str | None:
    """A variable that holds a key. It is redacted from every log line of this process from now on.

    Raises:
        BadInput: the file cannot be read, or the value cannot be a key. The message does not quote it.
    """
    key = (variable(name, file) or "").strip()
    if not key:
        return None
    if not _KEY.fullmatch(key):
        raise BadInput(f"{name}: holds a character that no key has (a space, a quote, a backslash); set it to the bare key")
    if not _known:
        _guard_logs()
    _known.add(key)
    return key


def redact(text: str, *keys: str | None) -> str:
    """A text without the given keys and without any key read so far: error messages of providers quote them."""
    for key in sorted({*_known, *filter(None, keys)}, key=len, reverse=True):
        if len(key) >= _SHORTEST:
            text = text.replace(key, "[key]")
    return text


def _guard_logs() -> None:
    """Free log records of keys as they are made: loggers of libraries are many, and so are their ways to a file."""
    make = logging.getLogRecordFactory()

    def guarded(*args: object, **kwargs: object) -> logging.LogRecord:
        record = make(*args, **kwargs)
        try:
            text = record.getMessage()
        except Exception:  # Its arguments do not fit; whoever handles the record says so, or quotes them.
            text = f"{record.msg} {record.args}"
        if (clean := redact(text)) != text:
            record.msg, record.args = clean, ()
        if record.exc_info and record.exc_info[0] is not None:
            trace = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
            if (clean := redact(trace)) != trace:
                record.exc_info, record.exc_text = None, clean
        return record

    logging.setLogRecordFactory(guarded)
