import os

os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"
os.environ["OTEL_SDK_DISABLED"] = "true"

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool
from report import IMAGE, KEY, MODEL, PROMPT, URL, report
from report import temperature as measure


def model(**more):
    return LLM(model=f"openai/{MODEL}", base_url=f"{URL}/api/v1", api_key=KEY, **more)


def answer(out):
    out.piece(model().call(PROMPT))


def image(out):
    url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}
    out.piece(model().call([{"role": "user", "content": [{"type": "text", "text": PROMPT}, url]}]))


def stream(out):
    from crewai.events import LLMStreamChunkEvent, crewai_event_bus

    with crewai_event_bus.scoped_handlers():

        @crewai_event_bus.on(LLMStreamChunkEvent)
        def take(_, event):
            out.piece(event.chunk)

        model(stream=True).call(PROMPT)
        crewai_event_bus.flush()


@tool("temperature")
def temperature(city: str) -> str:
    """The temperature in a city."""
    return measure(city)


def tools(out):
    agent = Agent(role="helper", goal="help", backstory="helps", llm=model(), tools=[temperature])
    task = Task(description=PROMPT, expected_output="A sentence.", agent=agent)
    out.piece(str(Crew(agents=[agent], tasks=[task]).kickoff()))


report({"chat": {"answer": answer, "stream": stream, "tools": tools, "image": image}})
