"""The client of the Python a2a-sdk 1.x."""

import uuid
from collections.abc import AsyncIterator
from typing import Any

import httpx
from google.protobuf.json_format import MessageToDict, ParseDict

from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.types import (
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    SendMessageRequest,
    TaskPushNotificationConfig,
)

from script import Observation, Turn, main, observation


def _see(wrapper: dict[str, Any]) -> Observation:
    [(kind, value)] = wrapper.items()
    return observation(kind, value)


def _config(value: TaskPushNotificationConfig) -> Observation:
    return {'kind': 'config', 'task': value.task_id, 'config': value.id, 'url': value.url, 'note': value.token}


def _request(u: Turn) -> SendMessageRequest:
    message = {'role': 'ROLE_USER', 'messageId': str(uuid.uuid4()), 'parts': [{'text': u.text}]}
    if u.task:
        message |= {'taskId': u.task, 'contextId': u.context}
    configuration: dict[str, Any] = {'returnImmediately': u.now}
    if u.webhook:
        configuration['taskPushNotificationConfig'] = {'url': u.webhook, 'token': u.token}
    return ParseDict({'message': message, 'configuration': configuration}, SendMessageRequest())


class Driver:
    """Drives two clients of the SDK, since streaming is a matter of a client's configuration there."""

    _once: Client
    _streaming: Client

    async def discover(self, agent_url: str, binding: str) -> list[Observation]:
        async with httpx.AsyncClient() as http:
            card = await A2ACardResolver(http, agent_url).get_agent_card()
        options: dict[str, Any] = {'supported_protocol_bindings': [binding]}
        if binding == 'GRPC':
            import grpc

            options['grpc_channel_factory'] = grpc.aio.insecure_channel
            if agent_url.startswith('https://'):
                credentials = grpc.ssl_channel_credentials()
                options['grpc_channel_factory'] = lambda url: grpc.aio.secure_channel(url, credentials)
        self._once = ClientFactory(ClientConfig(streaming=False, **options)).create(card)
        self._streaming = ClientFactory(ClientConfig(**options)).create(card)
        return [
            {'kind': 'card', 'text': card.name},
            *(
                {'kind': 'interface', 'note': f'{i.protocol_binding} {i.protocol_version}', 'url': i.url}
                for i in card.supported_interfaces
            ),
        ]

    async def send(self, turn: Turn) -> Observation:
        answers = [_see(MessageToDict(e)) async for e in self._once.send_message(_request(turn))]
        return answers[-1]

    async def stream(self, turn: Turn) -> AsyncIterator[Observation]:
        async for event in self._streaming.send_message(_request(turn)):
            yield _see(MessageToDict(event))

    async def get(self, task: str) -> Observation:
        return observation('task', MessageToDict(await self._once.get_task(GetTaskRequest(id=task))))

    async def cancel(self, task: str) -> Observation:
        return observation('task', MessageToDict(await self._once.cancel_task(CancelTaskRequest(id=task))))

    async def set_push(self, task: str, url: str, token: str) -> Observation:
        request = TaskPushNotificationConfig(task_id=task, id='peer-hook', url=url, token=token)
        return _config(await self._once.create_task_push_notification_config(request))

    async def get_push(self, task: str, config: str) -> Observation:
        request = GetTaskPushNotificationConfigRequest(task_id=task, id=config)
        return _config(await self._once.get_task_push_notification_config(request))

    async def list_push(self, task: str) -> list[Observation]:
        request = ListTaskPushNotificationConfigsRequest(task_id=task)
        return [_config(c) for c in (await self._once.list_task_push_notification_configs(request)).configs]

    async def delete_push(self, task: str, config: str) -> Observation:
        request = DeleteTaskPushNotificationConfigRequest(task_id=task, id=config)
        await self._once.delete_task_push_notification_config(request)
        return {'kind': 'done'}

    async def list(self, context: str) -> list[Observation]:
        answer = await self._once.list_tasks(ListTasksRequest(context_id=context, include_artifacts=True))
        return [observation('task', MessageToDict(task)) for task in answer.tasks]

    def code(self, error: Exception) -> str:
        return type(error).__name__


if __name__ == '__main__':
    main(Driver())
