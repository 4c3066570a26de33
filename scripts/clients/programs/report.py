"""What every Python program of this folder does: run one check of one surface and print one line of JSON."""

import asyncio
import json
import os
import sys

URL = os.environ["SLUICE_URL"]
KEY = os.environ["SLUICE_KEY"]
MODEL = os.environ["SLUICE_MODEL"]
IMAGE = os.environ.get("SLUICE_IMAGE", "")
PROMPT = "How warm is it in Oslo?"
PARAMETERS = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def temperature(city: str) -> str:
    """The temperature in a city.

    Args:
        city: The name of the city.
    """
    return f"{city}: 11 degrees"


async def linger():
    """After a program has cancelled: it goes on, so that the gateway does not learn it from its end."""
    await asyncio.sleep(2)


class Out:
    def __init__(self):
        self.text = ""
        self.pieces = 0
        self.error = None

    def piece(self, text):
        if text:
            self.text += text
            self.pieces += 1


def report(surfaces):
    surface, check = sys.argv[1:3]
    out = Out()
    if check not in surfaces[surface]:
        print('\n{"missing": true}', flush=True)
        os._exit(0)
    try:
        surfaces[surface][check](out)
    except BaseException as error:
        out.error = f"{type(error).__name__}: {error}"
    line = {"text": out.text, "pieces": out.pieces}
    print("\n" + json.dumps(line if out.error is None else {**line, "error": out.error}), flush=True)
    os._exit(0)
