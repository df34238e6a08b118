"""Run an experiment with CoFMPy: `with_cofmpy.py REQUEST.json RESULT.json`, in an environment that has it."""

import json
import sys
from pathlib import Path

from cofmpy import Coordinator

request_file, result_file = map(Path, sys.argv[1:])
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
result_file.write_text(json.dumps(rows))
