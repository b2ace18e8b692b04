"""Asks an agent a few things with a2a-sdk 0.3: its card, a message, a stream, tasks. Argument: the URL."""

import asyncio
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, PushNotificationConfig, Role, TaskIdParams, TaskPushNotificationConfig, TaskQueryParams, TextPart


def said(text, task=None, context=None):
    parts = [Part(root=TextPart(text=text))]
    return Message(role=Role.user, message_id=str(uuid.uuid4()), parts=parts, task_id=task, context_id=context)


async def attempt(what):
    try:
        return await what
    except Exception as error:
        print(type(error).__name__, error, file=sys.stderr)


async def all_of(events):
    return [e async for e in events]


async def main(url):
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        once = ClientFactory(ClientConfig(streaming=False, httpx_client=http)).create(card)
        streaming = ClientFactory(ClientConfig(streaming=True, httpx_client=http)).create(card)
        sent = await attempt(all_of(once.send_message(said("hello"))))
        await attempt(all_of(streaming.send_message(said("hello again"))))
        task = next((e[0] for e in sent or [] if isinstance(e, tuple)), None)
        if task:
            await asyncio.sleep(0.3)
            await attempt(once.get_task(TaskQueryParams(id=task.id, history_length=1)))
            await attempt(once.cancel_task(TaskIdParams(id=task.id)))
            await attempt(all_of(once.send_message(said("and more", task.id, task.context_id))))
            config = PushNotificationConfig(url="https://planner.example/hook")
            await attempt(once.set_task_callback(TaskPushNotificationConfig(task_id=task.id, push_notification_config=config)))
        await attempt(once.get_task(TaskQueryParams(id=str(uuid.uuid4()))))


asyncio.run(main(sys.argv[1]))
