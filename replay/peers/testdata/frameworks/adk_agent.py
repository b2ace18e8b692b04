"""An agent of google-adk, with no model behind it. Argument: the port."""

import sys

import uvicorn
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import BaseAgent
from google.adk.events import Event
from google.genai import types


class Echo(BaseAgent):
    async def _run_async_impl(self, ctx):
        for word in ("two ", "words"):
            content = types.Content(role="model", parts=[types.Part(text=word)])
            yield Event(author=self.name, invocation_id=ctx.invocation_id, content=content)


port = int(sys.argv[1])
app = to_a2a(Echo(name="echo", description="says two words"), host="127.0.0.1", port=port)
uvicorn.run(app, host="127.0.0.1", port=port, log_level="warning")
