from langchain.agents import create_agent
from report import IMAGE, KEY, MODEL, PROMPT, URL, report, temperature


def openai(**more):
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(base_url=f"{URL}/api/v1", api_key=KEY, model=MODEL, **more)


def anthropic():
    from langchain_anthropic import ChatAnthropic

    return ChatAnthropic(base_url=URL, api_key=KEY, model=MODEL, max_tokens=1000)


def openrouter():
    from langchain_openrouter import ChatOpenRouter

    return ChatOpenRouter(base_url=f"{URL}/api/v1", api_key=KEY, model=MODEL)


def google():
    from langchain_google_genai import ChatGoogleGenerativeAI

    return ChatGoogleGenerativeAI(base_url=URL, google_api_key=KEY, model=MODEL)


def text_of(message):
    return message.text if isinstance(message.text, str) else message.text()


def surface(make):
    def answer(out):
        out.piece(text_of(make().invoke(PROMPT)))

    def stream(out):
        for chunk in make().stream(PROMPT):
            out.piece(text_of(chunk))

    def tools(out):
        agent = create_agent(make(), [temperature])
        out.piece(text_of(agent.invoke({"messages": [("user", PROMPT)]})["messages"][-1]))

    def image(out):
        url = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{IMAGE}"}}
        out.piece(text_of(make().invoke([("user", [{"type": "text", "text": PROMPT}, url])])))

    return {"answer": answer, "stream": stream, "tools": tools, "image": image}


report(
    {
        "openai": surface(openai),
        "responses": surface(lambda: openai(use_responses_api=True)),
        "anthropic": surface(anthropic),
        "openrouter": surface(openrouter),
        "google": surface(google),
    }
)
