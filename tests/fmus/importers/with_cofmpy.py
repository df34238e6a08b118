"""Run experiments with CoFMPy, in an environment that has it.

Each line of standard input is the path of a request, FOLDER/request.json. A child process runs it and writes
FOLDER/result.json; its exit status is printed, and what it says is in FOLDER/log. CoFMPy is imported once for all
experiments, since that takes longer than one of them.
"""

import json
import os
import sys
import traceback
from pathlib import Path

from cofmpy import Coordinator


def run(request_file):
    """Run one experiment."""
    request = json.loads(request_file.read_text())
    first = {name: values[0] for name, values in request["inputs"].items()}
    settings = {
        "fmus": [{"id": "one", "name": "one", "path": request["fmu"], "initialization": first}],
        "connections": [],
        "cosim_method": "jacobi",
        "iterative": False,
        "root": "",
    }
    settings_file = request_file.with_name("cofmpy.json")
    settings_file.write_text(json.dumps(settings))
    coordinator = Coordinator()
    coordinator.start(str(settings_file))
    rows = []
    for k in range(request["steps"]):
        inputs = {"one": {name: [values[k]] for name, values in request["inputs"].items()}}
        given = coordinator.master.do_step(request["step"], input_dict=inputs)["one"]
        rows.append([float(given[name][0]) for name in request["outputs"]])
    request_file.with_name("result.json").write_text(json.dumps(rows))


def run_in_child(request_file):
    """Return the exit status of a child process that runs one experiment in the folder of its request."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 1
    try:
        os.chdir(request_file.parent)
        log = os.open("log", os.O_CREAT | os.O_WRONLY)
        os.dup2(log, 1)
        os.dup2(log, 2)
        run(request_file)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


for line in sys.stdin:
    print(run_in_child(Path(line.rstrip("\n"))), flush=True)
