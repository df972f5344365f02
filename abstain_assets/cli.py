"""The `abstain` command.

Exit codes: 0 all good; 1 something errored, failed verification or stayed unjudged; 2 usage or bad input.
"""

import errno
import sys

import typer

from abstain_assets.commands import bench, build, dev, inspect, judge, models, run
from abstain_assets.commands.session import Common, Home, Json
from abstain_assets.errors import AbstainError
from resources.secrets import redact

app = typer.Typer(
    name="abstain",
    help="Measure when tool-using LLM agents should not act.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def common(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """Options that every command takes, before or after its name."""
    context.obj = Common(home, as_json)


for module in (build, run, inspect, dev):
    module.register(app)
for name, group in {"verify": build.verify, "judge": judge.app, "models": models.app, "bench": bench.app}.items():
    app.add_typer(group, name=name)


def main() -> None:
    """Entry point: errors a person can do something about become one message and an exit code."""
    try:
        app()
    except AbstainError as error:
        _fail(str(error), error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES):
            raise
        _fail(f"cannot write {error.filename or 'the home'}: {error.strerror}", 1)


def _fail(message: str, code: int) -> None:
    print(f"abstain: {redact(message)}", file=sys.stderr)
    sys.exit(code)
