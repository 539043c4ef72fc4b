# SPDX-License-Identifier: Apache-2.0
"""Runs a script in several processes, as torchrun does: ranks.py RANKS SCRIPT [ARGUMENT...]. The processes are forked after the
imports of PyTorch, by a server if PERFGATE_RANKS_SERVER is its socket. The server imports once for all: ranks.py serve SOCKET."""

import json
import os
import pathlib
import runpy
import signal
import socket
import sys


def fork_ranks(ranks, words):
    """The exit code. Each rank returns to nowhere: its script ends in SystemExit."""
    import torch.nn.parallel  # noqa: F401

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    children = set()
    for rank in range(ranks):
        child = os.fork()
        if child == 0:
            os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, WORLD_SIZE=str(ranks), RANK=str(rank),
                              LOCAL_RANK=str(rank))
            sys.argv = words
            runpy.run_path(words[0], run_name="__main__")
            sys.exit()
        children.add(child)
    worst = 0
    while children:
        child, status = os.wait()
        children.discard(child)
        worst = max(worst, abs(os.waitstatus_to_exitcode(status)))
        if worst:  # the others would wait for it
            for each in children:
                os.kill(each, signal.SIGKILL)
    return worst


def serve(path):
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"  # nothing initialises CUDA before a fork
    import torch._dynamo  # noqa: F401: what optimisers import
    import torch.nn.parallel  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        while True:
            client, _ = listener.accept()
            if os.fork() == 0:
                break
            client.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, outputs, _, _ = socket.recv_fds(client, 1, 2)
    request = json.loads(client.makefile().readline())
    for output, number in zip(outputs, (1, 2)):
        os.dup2(output, number)
        os.close(output)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    code = fork_ranks(int(request["words"][0]), request["words"][1:])
    client.sendall(f"{code}\n".encode())


def ask(path, words):
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        socket.send_fds(server, [b" "], [1, 2])
        request = {"words": words, "folder": os.getcwd(), "environment": dict(os.environ)}
        server.sendall(json.dumps(request).encode() + b"\n")
        return int(server.makefile().readline() or 1)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # as torchrun does
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        words = [sys.argv[1], str(pathlib.Path(sys.argv[2]).resolve()), *sys.argv[3:]]
        server = os.environ.get("PERFGATE_RANKS_SERVER")
        sys.exit(ask(server, words) if server else fork_ranks(int(words[0]), words[1:]))
