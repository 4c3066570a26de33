import time

from anthropic import Anthropic, beta_tool
from report import IMAGE, KEY, MODEL, PARAMETERS, PROMPT, URL, report, temperature

client = Anthropic(base_url=URL, auth_token=KEY)
MESSAGES = [{"role": "user", "content": PROMPT}]
REQUEST = {"model": MODEL, "max_tokens": 1000}


def text_of(message):
    return next(block.text for block in message.content if block.type == "text")


def answer(out):
    out.piece(text_of(client.messages.create(messages=MESSAGES, **REQUEST)))


def stream(out):
    with client.messages.stream(messages=MESSAGES, **REQUEST) as events:
        for text in events.text_stream:
            out.piece(text)
        if events.get_final_message().stop_reason != "end_turn":
            raise RuntimeError(events.get_final_message().stop_reason)


def tools(out):
    offered = [{"name": "temperature", "description": "In a city.", "input_schema": PARAMETERS}]
    with client.messages.stream(messages=MESSAGES, tools=offered, **REQUEST) as events:
        first = events.get_final_message()
    call = next(block for block in first.content if block.type == "tool_use")
    result = {"type": "tool_result", "tool_use_id": call.id, "content": temperature(**call.input)}
    history = [
        *MESSAGES,
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": [result]},
    ]
    out.piece(text_of(client.messages.create(messages=history, tools=offered, **REQUEST)))


def image(out):
    source = {"type": "base64", "media_type": "image/png", "data": IMAGE}
    content = [{"type": "text", "text": PROMPT}, {"type": "image", "source": source}]
    out.piece(text_of(client.messages.create(messages=[{"role": "user", "content": content}], **REQUEST)))


def cancel(_):
    with client.messages.stream(messages=MESSAGES, **REQUEST) as events:
        next(iter(events.text_stream))
    time.sleep(2)


def run_tools(out):
    runner = client.beta.messages.tool_runner(messages=MESSAGES, tools=[beta_tool(temperature)], **REQUEST)
    out.piece(text_of(runner.until_done()))


MESSAGES_CHECKS = {"answer": answer, "stream": stream, "tools": tools, "image": image, "cancel": cancel}
report({"messages": MESSAGES_CHECKS, "runner": {"tools": run_tools}})
