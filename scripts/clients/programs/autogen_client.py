import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_core import Image
from autogen_core.models import UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient
from report import IMAGE, KEY, MODEL, PROMPT, URL, report, temperature

FAMILY = {
    "vision": True,
    "function_calling": True,
    "json_output": True,
    "structured_output": True,
    "family": "unknown",
}
ASKED = [UserMessage(content=PROMPT, source="user")]


def client():
    return OpenAIChatCompletionClient(
        model=MODEL, base_url=f"{URL}/api/v1", api_key=KEY, model_info=FAMILY
    )


def answer(out):
    out.piece(asyncio.run(client().create(ASKED)).content)


def image(out):
    content = [PROMPT, Image.from_base64(IMAGE)]
    out.piece(asyncio.run(client().create([UserMessage(content=content, source="user")])).content)


def stream(out):
    async def run():
        async for piece in client().create_stream(ASKED):
            if isinstance(piece, str):
                out.piece(piece)

    asyncio.run(run())


def tools(out):
    async def ask(city: str) -> str:
        return temperature(city)

    agent = AssistantAgent(
        "helper", client(), tools=[ask], description="Helps.", reflect_on_tool_use=True
    )
    out.piece(asyncio.run(agent.run(task=PROMPT)).messages[-1].content)


report({"chat": {"answer": answer, "stream": stream, "tools": tools, "image": image}})
