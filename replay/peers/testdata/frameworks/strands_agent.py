"""An agent of strands-agents, with a model that says one sentence. Argument: the port."""

import sys

from strands import Agent
from strands.models.model import Model
from strands.multiagent.a2a import A2AServer


class Fake(Model):
    def update_config(self, **config):
        pass

    def get_config(self):
        return {}

    async def structured_output(self, output_model, prompt, system_prompt=None, **kwargs):
        yield {"output": None}

    async def stream(self, messages, *args, **kwargs):
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {}}}
        for word in ("two ", "words"):
            yield {"contentBlockDelta": {"delta": {"text": word}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


agent = Agent(model=Fake(), name="echo", description="says two words", callback_handler=None)
A2AServer(agent, host="127.0.0.1", port=int(sys.argv[1])).serve()
