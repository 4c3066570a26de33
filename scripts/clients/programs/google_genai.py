import base64
import time

from google import genai
from google.genai import types
from report import IMAGE, KEY, MODEL, PROMPT, URL, report, temperature

client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=URL))


def answer(out):
    out.piece(client.models.generate_content(model=MODEL, contents=PROMPT).text)


def stream(out):
    reason = None
    for chunk in client.models.generate_content_stream(model=MODEL, contents=PROMPT):
        out.piece(chunk.text)
        if chunk.candidates and chunk.candidates[0].finish_reason:
            reason = chunk.candidates[0].finish_reason
    if reason != types.FinishReason.STOP:
        raise RuntimeError(f"the finish reason is {reason}")


def tools(out):
    config = types.GenerateContentConfig(tools=[temperature])
    out.piece(client.models.generate_content(model=MODEL, contents=PROMPT, config=config).text)


def image(out):
    picture = types.Part.from_bytes(data=base64.b64decode(IMAGE), mime_type="image/png")
    out.piece(client.models.generate_content(model=MODEL, contents=[PROMPT, picture]).text)


def cancel(_):
    stream = client.models.generate_content_stream(model=MODEL, contents=PROMPT)
    next(stream)
    stream.close()
    time.sleep(2)


report({"gemini": {"answer": answer, "stream": stream, "tools": tools, "image": image, "cancel": cancel}})
