"""Half of the requests name what is there: a model, and the ids of things that the script has made."""

import json
import os

import schemathesis

THERE = json.loads(os.environ["SLUICE_FUZZ_THERE"])
MODEL = "lab/tiny"
counter = 0


@schemathesis.hook
def before_call(ctx, case, kwargs):
    global counter
    counter += 1
    if counter % 2 == 0:
        return
    if isinstance(case.body, dict) and ("model" in case.body or "messages" in case.body or "input" in case.body):
        case.body["model"] = MODEL
    for name, value in THERE.get(case.operation.path, {}).items():
        if case.path_parameters and name in case.path_parameters:
            case.path_parameters[name] = value
    for name, value in THERE.get("query", {}).items():
        if case.query and name in case.query:
            case.query[name] = value
