import asyncio

from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent
from report import IMAGE, KEY, MODEL, PROMPT, URL, linger, report, temperature


def surface(**more):
    def agent(*tools):
        model = ChatOpenAI(base_url=f"{URL}/api/v1", api_key=KEY, model=MODEL, **more)
        return create_react_agent(model, list(tools))

    def asked(content=PROMPT):
        return {"messages": [("user", content)]}

    def answer(out, content=PROMPT):
        out.piece(agent().invoke(asked(content))["messages"][-1].text)

    def image(out):
        url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}
        answer(out, [{"type": "text", "text": PROMPT}, url])

    def stream(out):
        for chunk, _ in agent().stream(asked(), stream_mode="messages"):
            out.piece(chunk.text)

    def tools(out):
        out.piece(agent(temperature).invoke(asked())["messages"][-1].text)

    def cancel(out):
        async def run():
            async def read():
                async for _ in agent().astream(asked(), stream_mode="messages"):
                    begun.set()

            begun = asyncio.Event()
            task = asyncio.create_task(read())
            await begun.wait()
            task.cancel()
            await linger()

        asyncio.run(run())

    return {"answer": answer, "stream": stream, "tools": tools, "image": image, "cancel": cancel}


# LangChain goes on reading a stream of Responses after its task was cancelled.
responses = surface(use_responses_api=True)
del responses["cancel"]
report({"chat": surface(), "responses": responses})
