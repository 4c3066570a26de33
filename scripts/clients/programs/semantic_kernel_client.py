import asyncio

from openai import AsyncOpenAI
from report import IMAGE, KEY, MODEL, PROMPT, URL, linger, report
from report import temperature as measure
from semantic_kernel import Kernel
from semantic_kernel.connectors.ai import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.open_ai import (
    OpenAIChatCompletion,
    OpenAIChatPromptExecutionSettings,
)
from semantic_kernel.contents import ChatHistory, ChatMessageContent, ImageContent, TextContent
from semantic_kernel.functions import kernel_function


class Weather:
    @kernel_function(name="temperature", description="The temperature in a city.")
    def temperature(self, city: str) -> str:
        return measure(city)


def service():
    client = AsyncOpenAI(base_url=f"{URL}/api/v1", api_key=KEY)
    return OpenAIChatCompletion(ai_model_id=MODEL, async_client=client)


def asked(*items):
    history = ChatHistory()
    history.add_message(ChatMessageContent(role="user", items=[TextContent(text=PROMPT), *items]))
    return history


def settings(**more):
    return OpenAIChatPromptExecutionSettings(**more)


def answer(out):
    out.piece(str(asyncio.run(service().get_chat_message_content(asked(), settings()))))


def image(out):
    picture = ImageContent(data_uri=f"data:image/png;base64,{IMAGE}")
    out.piece(str(asyncio.run(service().get_chat_message_content(asked(picture), settings()))))


def stream(out):
    async def run():
        async for piece in service().get_streaming_chat_message_content(asked(), settings()):
            out.piece(str(piece))

    asyncio.run(run())


def tools(out):
    kernel = Kernel()
    kernel.add_plugin(Weather(), "weather")
    choice = settings(function_choice_behavior=FunctionChoiceBehavior.Auto())
    out.piece(str(asyncio.run(service().get_chat_message_content(asked(), choice, kernel=kernel))))


def cancel(out):
    async def run():
        async def read():
            async for piece in service().get_streaming_chat_message_content(asked(), settings()):
                begun.set()

        begun = asyncio.Event()
        task = asyncio.create_task(read())
        await begun.wait()
        task.cancel()
        await linger()

    asyncio.run(run())


report({"chat": {"answer": answer, "stream": stream, "tools": tools, "image": image, "cancel": cancel}})
