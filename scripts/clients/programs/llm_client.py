"""The command line of `llm`, with a model of extra-openai-models.yaml, as its documentation configures one."""

import os
import subprocess
import sys

from report import KEY, MODEL, PROMPT, URL, report

home = os.environ["LLM_USER_PATH"] = os.path.join(os.environ["HOME"], "llm")
os.makedirs(home, exist_ok=True)
with open(os.path.join(home, "extra-openai-models.yaml"), "w") as file:
    file.write(
        f"- model_id: sluice\n  model_name: {MODEL}\n  api_base: {URL}/api/v1\n"
        "  api_key_name: sluice\n  supports_tools: true\n"
    )
with open(os.path.join(home, "tools.py"), "w") as file:
    file.write(
        'def temperature(city: str) -> str:\n    """The temperature in a city."""\n'
        '    return f"{city}: 11 degrees"\n'
    )


def ask(out, *options):
    command = [os.path.join(os.path.dirname(sys.executable), "llm"), "-m", "sluice", "--key", KEY, *options, PROMPT]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while text := child.stdout.read1(100_000):
        out.piece(text.decode())
    error = child.stderr.read().decode()
    out.text = out.text.removesuffix("\n")
    if child.wait() != 0:
        raise RuntimeError(error.strip()[-500:])


report(
    {
        "chat": {
            "answer": lambda out: ask(out, "--no-stream"),
            "stream": lambda out: ask(out),
            "tools": lambda out: ask(out, "--functions", os.path.join(home, "tools.py")),
        }
    }
)
