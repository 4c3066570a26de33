import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.llms.openai_like import OpenAILike
from report import IMAGE, KEY, MODEL, PROMPT, URL, report, temperature

ASKED = [ChatMessage(role="user", content=PROMPT)]


def model():
    return OpenAILike(
        model=MODEL,
        api_base=f"{URL}/api/v1",
        api_key=KEY,
        is_chat_model=True,
        is_function_calling_model=True,
    )


def answer(out):
    out.piece(model().chat(ASKED).message.content)


def image(out):
    picture = ImageBlock(url=f"data:image/png;base64,{IMAGE}")
    message = ChatMessage(role="user", blocks=[TextBlock(text=PROMPT), picture])
    out.piece(model().chat([message]).message.content)


def stream(out):
    for piece in model().stream_chat(ASKED):
        out.piece(piece.delta)


def tools(out):
    async def run():
        return await FunctionAgent(tools=[temperature], llm=model()).run(PROMPT)

    out.piece(str(asyncio.run(run())))


report({"chat": {"answer": answer, "stream": stream, "tools": tools, "image": image}})
