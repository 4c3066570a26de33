import asyncio

from agent_framework import Agent, Content, Message
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient
from report import IMAGE, KEY, MODEL, PROMPT, URL, report
from report import temperature as measure


def temperature(city: str) -> str:
    """The temperature in a city."""
    return measure(city)


def surface(client):
    def agent(*tools):
        made = client(model=MODEL, base_url=f"{URL}/api/v1", api_key=KEY)
        return Agent(client=made, instructions="Help.", tools=list(tools))

    def answer(out, *tools):
        out.piece(asyncio.run(agent(*tools).run(PROMPT)).text)

    def image(out):
        picture = Content.from_uri(f"data:image/png;base64,{IMAGE}", media_type="image/png")
        message = Message("user", [Content.from_text(PROMPT), picture])
        out.piece(asyncio.run(agent().run(message)).text)

    def stream(out):
        async def run():
            async for piece in agent().run(PROMPT, stream=True):
                out.piece(piece.text)

        asyncio.run(run())

    return {
        "answer": answer,
        "stream": stream,
        "tools": lambda out: answer(out, temperature),
        "image": image,
    }


report({"responses": surface(OpenAIChatClient), "chat": surface(OpenAIChatCompletionClient)})
