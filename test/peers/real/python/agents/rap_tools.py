"""The operations of the tool servers in TOOL_URLS, called through the example runtime of this project."""

import asyncio
import json
import os
import sys
import threading
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parents[5] / "fixtures/runtimes/python"))

from runtime import Runtime  # noqa: E402

PROMPT = "Do what I want."
RESULT_S = 60


class RapTools:
    """`all` has the tools with a unique name; `call` returns the text for the model, which begins with "Error: " after a failure."""

    def __init__(self):
        self.answers = {}
        self.runtime = Runtime(self, os.environ.get("LOG"))
        self.runtime.open(json.loads(os.environ["TOOL_URLS"]))
        toolsets = [server.toolset for server in self.runtime.servers if server.toolset]
        tools = [tool for toolset in toolsets for tool in toolset["tools"]]
        names = [tool["name"] for tool in tools]
        self.all = [tool for tool in tools if names.count(tool["name"]) == 1]
        self.numbers = iter(range(1_000_000))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.runtime.close()

    def call(self, operation, arguments):
        call = f"call_{os.getpid()}_{next(self.numbers)}"
        answered = self.answers[call] = threading.Event()
        self.runtime.invoke(operation, arguments, call)
        answered.wait(RESULT_S)
        return getattr(answered, "text", "Error: no result in time")

    async def call_async(self, operation, arguments):
        return await asyncio.to_thread(self.call, operation, arguments)

    # The runtime reports to its agent:

    def model(self, call, text):
        answered = self.answers.get(call)
        if answered and not answered.is_set():
            answered.text = text
            answered.set()

    def failure(self, call, text):
        self.model(call, text)

    def human(self, call, segment): ...
    def question(self, call, prompt, choices): ...
    def consent(self, call, url): ...
    def view(self, view_type, content): ...
    def migrated(self): ...
