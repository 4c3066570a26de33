import asyncio

from pydantic_ai import Agent
from report import KEY, MODEL, PROMPT, URL, report, temperature


def chat():
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=f"{URL}/api/v1", api_key=KEY))


def responses():
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIResponsesModel(MODEL, provider=OpenAIProvider(base_url=f"{URL}/api/v1", api_key=KEY))


def anthropic():
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(base_url=URL, auth_token=KEY)
    return AnthropicModel(MODEL, provider=AnthropicProvider(anthropic_client=client))


def surface(make):
    def answer(out):
        out.piece(Agent(make()).run_sync(PROMPT).output)

    def stream(out):
        async def run():
            async with Agent(make()).run_stream(PROMPT) as result:
                async for text in result.stream_text(delta=True, debounce_by=None):
                    out.piece(text)

        asyncio.run(run())

    def tools(out):
        out.piece(Agent(make(), tools=[temperature]).run_sync(PROMPT).output)

    return {"answer": answer, "stream": stream, "tools": tools}


report({"chat": surface(chat), "responses": surface(responses), "anthropic": surface(anthropic)})
