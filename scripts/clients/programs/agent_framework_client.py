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
        # It would send only new messages, and expects that every response is stored.
        options = {"store": False}
        return Agent(client=made, instructions="Help.", tools=list(tools), default_options=options)

    def answer(out, *tools):
        out.piece(asyncio.run(agent(*tools).run(PROMPT)).text)

    def image(out):
        picture = Content.from_uri(f"data:image/png;base64,{IMAGE}", media_type="image/png")
        message = Message("user", [Content.from_text(PROMPT), picture])
        out.piece(asyncio.run(agent().run(message)).text)

    def stream(out):
        async def run():
            async for piece in agent().run(PROMPT, stream=True):
                # A content with `replace` repeats what came.
                added = [each for each in piece.contents if each.merge_mode != "replace"]
                out.piece("".join(each.text or "" for each in added if each.type == "text"))

        asyncio.run(run())

    return {
        "answer": answer,
        "stream": stream,
        "tools": lambda out: answer(out, temperature),
        "image": image,
    }


report({"responses": surface(OpenAIChatClient), "chat": surface(OpenAIChatCompletionClient)})
