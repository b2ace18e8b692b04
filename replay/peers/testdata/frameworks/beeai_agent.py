"""An agent of beeai-framework, with a model that says one sentence. Argument: the port."""

import sys

from beeai_framework.adapters.a2a.serve.server import A2AServer, A2AServerConfig
from beeai_framework.agents.requirement import RequirementAgent
from beeai_framework.backend import AssistantMessage, ChatModel, ChatModelOutput
from beeai_framework.memory import UnconstrainedMemory


class Fake(ChatModel):
    @property
    def model_id(self):
        return "fake"

    @property
    def provider_id(self):
        return "ollama"

    async def _create(self, input, run):
        return ChatModelOutput(output=[AssistantMessage("two words")])

    async def _create_stream(self, input, run):
        yield ChatModelOutput(output=[AssistantMessage("two words")])


agent = RequirementAgent(llm=Fake(), memory=UnconstrainedMemory(), name="echo", description="says two words")
A2AServer(config=A2AServerConfig(host="127.0.0.1", port=int(sys.argv[1]))).register(agent).serve()
