import json

from openrouter import OpenRouter
from report import KEY, MODEL, PARAMETERS, PROMPT, URL, report, temperature

client = OpenRouter(api_key=KEY, server_url=f"{URL}/api/v1")
MESSAGES = [{"role": "user", "content": PROMPT}]


def answer(out):
    out.piece(client.chat.send(model=MODEL, messages=MESSAGES).choices[0].message.content)


def stream(out):
    for chunk in client.chat.send(model=MODEL, messages=MESSAGES, stream=True):
        if chunk.error:
            raise RuntimeError(f"{chunk.error.code}: {chunk.error.message}")
        if chunk.choices:
            out.piece(chunk.choices[0].delta.content)


def tools(out):
    function = {"name": "temperature", "description": "In a city.", "parameters": PARAMETERS}
    offered = [{"type": "function", "function": function}]
    message = client.chat.send(model=MODEL, messages=MESSAGES, tools=offered).choices[0].message
    call = message.tool_calls[0]
    result = temperature(**json.loads(call.function.arguments))
    history = [*MESSAGES, message, {"role": "tool", "tool_call_id": call.id, "content": result}]
    out.piece(client.chat.send(model=MODEL, messages=history, tools=offered).choices[0].message.content)


report({"chat": {"answer": answer, "stream": stream, "tools": tools}})
