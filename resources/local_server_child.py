"""The process that is the llama.cpp server. It is started by path and imports nothing of the project.

What it needs comes as one line of JSON on its standard input, so that the key is in no argument and no variable. When that input
ends, whoever started it has ended too, however that happened, and it ends at once.
"""

import json
import os
import sys


def main() -> None:
    """Serve until standard input ends. Says its address, as one line on standard output, when it is ready."""
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the library prints
    import xllamacpp

    options = json.loads(sys.stdin.buffer.readline())
    params = xllamacpp.CommonParams()
    params.model.path = options["weights"]
    params.api_keys = [options["key"]]
    params.port = 0  # a free one
    params.n_ctx = options["context"]
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.cache_ram_mib = 0
    params.cache_idle_slots = False
    params.fit_params = False  # to the memory that is free just now
    params.endpoint_slots = False
    params.ui = False
    params.verbosity = 2  # warnings and errors
    server = xllamacpp.Server(params)
    with answer:
        answer.write(f"{server.listening_address}\n")
    sys.stdin.buffer.read()
    os._exit(0)  # taking the server down in order would wait for its clients


if __name__ == "__main__":
    main()
