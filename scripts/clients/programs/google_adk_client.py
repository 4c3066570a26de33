import asyncio
import base64
import os

from report import IMAGE, KEY, MODEL, PROMPT, URL, report, temperature

os.environ["GOOGLE_API_KEY"] = KEY
os.environ["GOOGLE_GENAI_USE_VERTEXAI"] = "false"
os.environ["GOOGLE_GEMINI_BASE_URL"] = URL

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models.google_llm import Gemini
from google.adk.runners import InMemoryRunner
from google.genai import types


def gemini():
    return Gemini(model=MODEL)


def litellm():
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    from google.adk.models.lite_llm import LiteLlm

    return LiteLlm(model=f"openai/{MODEL}", api_base=f"{URL}/api/v1", api_key=KEY)


def surface(make):
    async def run(out, is_streamed=False, tools=(), parts=()):
        agent = LlmAgent(name="helper", model=make(), instruction="Help.", tools=list(tools))
        runner = InMemoryRunner(agent=agent, app_name="clients")
        session = await runner.session_service.create_session(app_name="clients", user_id="someone")
        message = types.Content(role="user", parts=[types.Part(text=PROMPT), *parts])
        mode = StreamingMode.SSE if is_streamed else StreamingMode.NONE
        final = ""
        async for event in runner.run_async(
            user_id="someone",
            session_id=session.id,
            new_message=message,
            run_config=RunConfig(streaming_mode=mode),
        ):
            if event.error_code or event.error_message:
                raise RuntimeError(f"{event.error_code}: {event.error_message}")
            text = "".join(part.text or "" for part in (event.content.parts if event.content else None) or [])
            if is_streamed and event.partial:
                out.piece(text)
            elif event.is_final_response():
                final = text
        if not is_streamed:
            out.piece(final)

    picture = types.Part.from_bytes(data=base64.b64decode(IMAGE), mime_type="image/png")
    return {
        "answer": lambda out: asyncio.run(run(out)),
        "stream": lambda out: asyncio.run(run(out, is_streamed=True)),
        "tools": lambda out: asyncio.run(run(out, tools=[temperature])),
        "image": lambda out: asyncio.run(run(out, parts=[picture])),
    }


report({"gemini": surface(gemini), "litellm": surface(litellm)})
