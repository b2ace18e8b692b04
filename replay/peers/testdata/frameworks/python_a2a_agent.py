"""An agent of python-a2a, with no model behind it. Argument: the port."""

import sys

from python_a2a import A2AServer, Message, MessageRole, TextContent, run_server, skill, agent


@agent(name="echo", description="says it again", version="1.0.0")
class Echo(A2AServer):
    @skill(name="Echo", description="says it again", tags=["test"])
    def echo(self, text):
        return text

    def handle_message(self, message):
        text = getattr(message.content, "text", "")
        return Message(
            content=TextContent(text=text), role=MessageRole.AGENT,
            parent_message_id=message.message_id, conversation_id=message.conversation_id,
        )


port = int(sys.argv[1])
run_server(Echo(url=f"http://127.0.0.1:{port}"), host="127.0.0.1", port=port)
