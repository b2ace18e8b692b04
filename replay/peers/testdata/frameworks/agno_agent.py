"""An agent of agno, with a model that says one sentence. Argument: the port."""

import sys
from dataclasses import dataclass

import uvicorn
from agno.agent import Agent
from agno.models.base import Model
from agno.models.response import ModelResponse
from agno.os import AgentOS
from agno.os.interfaces.a2a import A2A


@dataclass
class Fake(Model):
    id: str = "fake"

    def invoke(self, *args, **kwargs):
        return ModelResponse(role="assistant", content="two words")

    async def ainvoke(self, *args, **kwargs):
        return self.invoke()

    def invoke_stream(self, *args, **kwargs):
        yield self.invoke()

    async def ainvoke_stream(self, *args, **kwargs):
        yield self.invoke()

    def _parse_provider_response(self, response, **kwargs):
        return response

    def _parse_provider_response_delta(self, response):
        return response


agent = Agent(id="echo", name="echo", model=Fake(), telemetry=False)
app = AgentOS(agents=[agent], interfaces=[A2A(agents=[agent])], telemetry=False).get_app()
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
