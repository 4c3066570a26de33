import asyncio

from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, function_tool
from agents import set_tracing_disabled
from openai import AsyncOpenAI
from report import KEY, MODEL, PROMPT, URL, report, temperature

set_tracing_disabled(True)


def agent(kind, tools=()):
    client = AsyncOpenAI(base_url=f"{URL}/api/v1", api_key=KEY)
    return Agent(name="clerk", model=kind(model=MODEL, openai_client=client), tools=list(tools))


def surface(kind):
    def answer(out):
        out.piece(Runner.run_sync(agent(kind), PROMPT).final_output)

    def stream(out):
        async def run():
            result = Runner.run_streamed(agent(kind), PROMPT)
            async for event in result.stream_events():
                if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                    out.piece(event.data.delta)

        asyncio.run(run())

    def tools(out):
        out.piece(Runner.run_sync(agent(kind, [function_tool(temperature)]), PROMPT).final_output)

    return {"answer": answer, "stream": stream, "tools": tools}


report({"responses": surface(OpenAIResponsesModel), "chat": surface(OpenAIChatCompletionsModel)})
