"""Asks an agent a few things with the client of python-a2a. Argument: the URL."""

import sys

from python_a2a import A2AClient, Message, MessageRole, TextContent

client = A2AClient(sys.argv[1], google_a2a_compatible=True)
print(client.send_message(Message(content=TextContent(text="hello"), role=MessageRole.USER)), file=sys.stderr)
print(client.ask("hello again"), file=sys.stderr)
task = client._create_task(Message(content=TextContent(text="once more"), role=MessageRole.USER))
print(client._send_task(task), file=sys.stderr)
print(client.get_task(task.id), file=sys.stderr)
print(client.cancel_task(task.id), file=sys.stderr)
