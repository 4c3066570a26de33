from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage, ImageContent
from haystack.tools import tool
from haystack.utils import Secret
from report import IMAGE, KEY, MODEL, PROMPT, URL, report
from report import temperature as measure


def generator(**more):
    return OpenAIChatGenerator(
        api_key=Secret.from_token(KEY), model=MODEL, api_base_url=f"{URL}/api/v1", **more
    )


def ask(message, **more):
    return generator(**more).run([message])["replies"][0].text


def answer(out):
    out.piece(ask(ChatMessage.from_user(PROMPT)))


def image(out):
    picture = ImageContent(base64_image=IMAGE, mime_type="image/png")
    out.piece(ask(ChatMessage.from_user(content_parts=[PROMPT, picture])))


def stream(out):
    ask(ChatMessage.from_user(PROMPT), streaming_callback=lambda chunk: out.piece(chunk.content))


@tool
def temperature(city: str) -> str:
    """The temperature in a city."""
    return measure(city)


def tools(out):
    agent = Agent(chat_generator=generator(), tools=[temperature])
    out.piece(agent.run(messages=[ChatMessage.from_user(PROMPT)])["messages"][-1].text)


report({"chat": {"answer": answer, "stream": stream, "tools": tools, "image": image}})
