"""Open WebUI without a browser: starts its server in front of the gateway and chats through the server's API."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request

from report import KEY, MODEL, PROMPT, URL, report

START_SECONDS = 240
home = os.environ["HOME"]
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{free.getsockname()[1]}"
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def call(path, body=None, token=None):
    headers = {"content-type": "application/json"}
    if token:
        headers["authorization"] = f"Bearer {token}"
    data = None if body is None else json.dumps(body).encode()
    return opener.open(urllib.request.Request(address + path, data, headers), timeout=30)


def start():
    settings = {
        "DATA_DIR": os.path.join(home, "data"),
        "OPENAI_API_BASE_URL": f"{URL}/api/v1",
        "OPENAI_API_KEY": KEY,
        "ENABLE_OLLAMA_API": "false",
        "WEBUI_AUTH": "False",
        "WEBUI_SECRET_KEY": "only-for-this-run",
        # No embedding model is downloaded and none is loaded.
        "RAG_EMBEDDING_ENGINE": "openai",
        "OFFLINE_MODE": "true",
        "HF_HUB_OFFLINE": "1",
        "ENABLE_VERSION_UPDATE_CHECK": "false",
        "ANONYMIZED_TELEMETRY": "false",
    }
    os.makedirs(settings["DATA_DIR"], exist_ok=True)
    program = os.path.join(os.path.dirname(sys.executable), "open-webui")
    host, port = address.removeprefix("http://").split(":")
    log = open(os.path.join(home, "log"), "wb")
    command = [program, "serve", "--host", host, "--port", port]
    child = subprocess.Popen(command, env={**os.environ, **settings}, stdout=log, stderr=log, cwd=home)
    for _ in range(START_SECONDS * 2):
        if child.poll() is not None:
            break
        try:
            call("/health").read()
            return json.load(call("/api/v1/auths/signin", {"email": "", "password": ""}))["token"]
        except OSError:
            time.sleep(0.5)
    with open(os.path.join(home, "log")) as words:
        raise RuntimeError("Open WebUI did not start: " + words.read()[-500:])


def chat(stream):
    token = start()
    models = [model["id"] for model in json.load(call("/api/models", token=token))["data"]]
    if MODEL not in models:
        raise RuntimeError(f"{MODEL} is not among its models: {models[:5]}")
    body = {"model": MODEL, "stream": stream, "messages": [{"role": "user", "content": PROMPT}]}
    return call("/api/chat/completions", body, token)


def answer(out):
    out.piece(json.load(chat(False))["choices"][0]["message"]["content"])


def stream(out):
    for line in chat(True):
        data = line.decode().removeprefix("data: ").strip()
        if not data.startswith("{"):
            continue
        chunk = json.loads(data)
        if chunk.get("error"):
            raise RuntimeError(chunk["error"]["message"])
        for choice in chunk.get("choices", []):
            out.piece(choice["delta"].get("content"))


report({"chat": {"answer": answer, "stream": stream}})
