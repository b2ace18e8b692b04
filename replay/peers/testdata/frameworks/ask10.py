"""Asks an agent a few things with a2a-sdk 1.x: its card, a message, a stream, tasks. Argument: the URL, with the query that its card needs."""

import asyncio
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import CancelTaskRequest, GetTaskRequest, ListTasksRequest, SendMessageRequest
from google.protobuf.json_format import MessageToDict, ParseDict


def said(text, task=None, context=None):
    message = {"role": "ROLE_USER", "messageId": str(uuid.uuid4()), "parts": [{"text": text}]}
    if task:
        message |= {"taskId": task, "contextId": context}
    return ParseDict({"message": message}, SendMessageRequest())


async def attempt(what):
    try:
        return await what
    except Exception as error:
        print(type(error).__name__, error, file=sys.stderr)


async def all_of(events):
    return [MessageToDict(e) async for e in events]


async def main(url):
    async with httpx.AsyncClient(timeout=30) as http:
        base, _, query = url.partition("?")
        path = "/.well-known/agent-card.json" + (query and "?" + query)
        card = await A2ACardResolver(http, base, path).get_agent_card()
        once = ClientFactory(ClientConfig(streaming=False, httpx_client=http)).create(card)
        streaming = ClientFactory(ClientConfig(httpx_client=http)).create(card)
        sent = await attempt(all_of(once.send_message(said("hello"))))
        await attempt(all_of(streaming.send_message(said("hello again"))))
        task = next((e["task"] for e in sent or [] if "task" in e), None)
        if task:
            await asyncio.sleep(0.3)
            await attempt(once.get_task(GetTaskRequest(id=task["id"])))
            await attempt(once.cancel_task(CancelTaskRequest(id=task["id"])))
            await attempt(all_of(once.send_message(said("and more", task["id"], task.get("contextId")))))
        await attempt(once.get_task(GetTaskRequest(id=str(uuid.uuid4()))))
        await attempt(once.list_tasks(ListTasksRequest(page_size=2)))


asyncio.run(main(sys.argv[1]))
