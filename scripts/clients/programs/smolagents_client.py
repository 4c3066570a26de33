from report import KEY, MODEL, PROMPT, URL, report
from smolagents import ChatMessage, OpenAIModel, ToolCallingAgent, tool

MESSAGES = [ChatMessage(role="user", content=[{"type": "text", "text": PROMPT}])]


def model():
    return OpenAIModel(model_id=MODEL, api_base=f"{URL}/api/v1", api_key=KEY)


@tool
def temperature(city: str) -> str:
    """The temperature in a city.

    Args:
        city: The name of the city.
    """
    return f"{city}: 11 degrees"


def answer(out):
    out.piece(model()(MESSAGES).content)


def stream(out):
    for delta in model().generate_stream(MESSAGES):
        out.piece(delta.content)


def tools(out):
    agent = ToolCallingAgent(tools=[temperature], model=model(), verbosity_level=0, max_steps=4)
    out.piece(str(agent.run(PROMPT)))


report({"chat": {"answer": answer, "stream": stream, "tools": tools}})
