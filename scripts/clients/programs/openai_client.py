import json
import time

from openai import OpenAI
from report import IMAGE, KEY, MODEL, PARAMETERS, PROMPT, URL, report, temperature

client = OpenAI(base_url=f"{URL}/api/v1", api_key=KEY)
PICTURE = f"data:image/png;base64,{IMAGE}"
MESSAGES = [{"role": "user", "content": PROMPT}]
FUNCTION = {"name": "temperature", "description": "The temperature in a city.", "parameters": PARAMETERS}


def chat_answer(out):
    reply = client.chat.completions.create(model=MODEL, messages=MESSAGES)
    out.piece(reply.choices[0].message.content)


def chat_stream(out):
    for chunk in client.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True):
        if chunk.choices:
            out.piece(chunk.choices[0].delta.content)


def chat_tools(out):
    tools = [{"type": "function", "function": FUNCTION}]
    message = client.chat.completions.create(model=MODEL, messages=MESSAGES, tools=tools).choices[0].message
    call = message.tool_calls[0]
    result = temperature(**json.loads(call.function.arguments))
    messages = [*MESSAGES, message, {"role": "tool", "tool_call_id": call.id, "content": result}]
    reply = client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
    out.piece(reply.choices[0].message.content)


def chat_image(out):
    url = {"type": "image_url", "image_url": {"url": PICTURE}}
    messages = [{"role": "user", "content": [{"type": "text", "text": PROMPT}, url]}]
    out.piece(client.chat.completions.create(model=MODEL, messages=messages).choices[0].message.content)


def responses_image(out):
    content = [{"type": "input_text", "text": PROMPT}, {"type": "input_image", "image_url": PICTURE}]
    out.piece(client.responses.create(model=MODEL, input=[{"role": "user", "content": content}]).output_text)


def chat_cancel(_):
    with client.chat.completions.create(model=MODEL, messages=MESSAGES, stream=True) as stream:
        next(chunk for chunk in stream if chunk.choices and chunk.choices[0].delta.content)
    time.sleep(2)


def responses_cancel(_):
    with client.responses.create(model=MODEL, input=PROMPT, stream=True) as stream:
        next(event for event in stream if event.type == "response.output_text.delta")
    time.sleep(2)


def responses_answer(out):
    out.piece(client.responses.create(model=MODEL, input=PROMPT).output_text)


def responses_stream(out):
    with client.responses.stream(model=MODEL, input=PROMPT) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                out.piece(event.delta)
            elif event.type == "response.failed":
                raise RuntimeError(event.response.error.message)
        last = stream.get_final_response()
        if last.status != "completed":
            raise RuntimeError(last.status)


def responses_tools(out):
    tools = [{"type": "function", "strict": False, **FUNCTION}]
    first = client.responses.create(model=MODEL, input=PROMPT, tools=tools)
    call = next(item for item in first.output if item.type == "function_call")
    result = {
        "type": "function_call_output",
        "call_id": call.call_id,
        "output": temperature(**json.loads(call.arguments)),
    }
    history = [{"role": "user", "content": PROMPT}, *first.output, result]
    out.piece(client.responses.create(model=MODEL, input=history, tools=tools).output_text)


report(
    {
        "chat": {
            "answer": chat_answer,
            "stream": chat_stream,
            "tools": chat_tools,
            "image": chat_image,
            "cancel": chat_cancel,
        },
        "responses": {
            "answer": responses_answer,
            "stream": responses_stream,
            "tools": responses_tools,
            "image": responses_image,
            "cancel": responses_cancel,
        },
    }
)
