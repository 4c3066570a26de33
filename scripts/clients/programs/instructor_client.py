import instructor
from openai import OpenAI
from pydantic import BaseModel
from report import KEY, MODEL, PROMPT, URL, report


class Answer(BaseModel):
    city: str


def client():
    openai = OpenAI(base_url=f"{URL}/api/v1", api_key=KEY)
    return instructor.from_openai(openai, mode=instructor.Mode.TOOLS)


MESSAGES = [{"role": "user", "content": PROMPT}]


def structured(out):
    reply = client().chat.completions.create(model=MODEL, messages=MESSAGES, response_model=Answer)
    out.piece(reply.city)


def partial(out):
    for reply in client().chat.completions.create_partial(
        model=MODEL, messages=MESSAGES, response_model=Answer
    ):
        out.text = reply.city or ""
        out.pieces += 1


report({"chat": {"tools": structured, "stream": partial, "answer": structured}})
