import json
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from report import IMAGE, KEY, MODEL, PARAMETERS, PROMPT, URL, report, temperature

litellm.telemetry = False
MESSAGES = [{"role": "user", "content": PROMPT}]
FUNCTION = {"name": "temperature", "description": "In a city.", "parameters": PARAMETERS}
TOOLS = [{"type": "function", "function": FUNCTION}]


def surface(prefix, base):
    def complete(**more):
        return litellm.completion(
            model=f"{prefix}/{MODEL}", api_base=base, api_key=KEY, max_tokens=1000, **more
        )

    def answer(out):
        out.piece(complete(messages=MESSAGES).choices[0].message.content)

    def stream(out):
        for chunk in complete(messages=MESSAGES, stream=True):
            out.piece(chunk.choices[0].delta.content)

    def tools(out):
        message = complete(messages=MESSAGES, tools=TOOLS).choices[0].message
        call = message.tool_calls[0]
        result = temperature(**json.loads(call.function.arguments))
        history = [*MESSAGES, message, {"role": "tool", "tool_call_id": call.id, "content": result}]
        out.piece(complete(messages=history, tools=TOOLS).choices[0].message.content)

    def image(out):
        url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}
        messages = [{"role": "user", "content": [{"type": "text", "text": PROMPT}, url]}]
        out.piece(complete(messages=messages).choices[0].message.content)

    return {"answer": answer, "stream": stream, "tools": tools, "image": image}


report(
    {
        "openai": surface("openai", f"{URL}/api/v1"),
        "openrouter": surface("openrouter", f"{URL}/api/v1"),
        "anthropic": surface("anthropic", URL),
    }
)
