"""The client of the Python a2a-sdk 0.2.x, over JSON-RPC. It can neither list nor delete push configurations."""

import uuid
from collections.abc import AsyncIterator
from typing import Any

import httpx

from a2a.client import A2ACardResolver, A2AClient
from a2a.types import (
    CancelTaskRequest,
    GetTaskPushNotificationConfigParams,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    Message,
    MessageSendConfiguration,
    MessageSendParams,
    Part,
    PushNotificationConfig,
    Role,
    SendMessageRequest,
    SendStreamingMessageRequest,
    SetTaskPushNotificationConfigRequest,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TextPart,
)

from script import Observation, Turn, main, observation

_KINDS = {'status-update': 'statusUpdate', 'artifact-update': 'artifactUpdate'}


class Refused(Exception):
    """The agent answered an error."""


def _result(response: Any) -> Any:
    answer = response.root
    error = getattr(answer, 'error', None)
    if error is not None:
        raise Refused(f'{error.code} {error.message}')
    return answer.result


def _see(value: Any) -> Observation:
    plain = value.model_dump(mode='json', by_alias=True, exclude_none=True)
    return observation(_KINDS.get(plain['kind'], plain['kind']), plain)


def _config(value: TaskPushNotificationConfig) -> Observation:
    config = value.push_notification_config
    return {'kind': 'config', 'task': value.task_id, 'config': config.id, 'url': config.url, 'note': config.token}


def _params(u: Turn, **more: Any) -> MessageSendParams:
    push = PushNotificationConfig(url=u.webhook, token=u.token) if u.webhook else None
    return MessageSendParams(
        message=Message(
            role=Role.user, message_id=str(uuid.uuid4()), parts=[Part(root=TextPart(text=u.text))],
            task_id=u.task, context_id=u.context,
        ),
        configuration=MessageSendConfiguration(
            accepted_output_modes=['text/plain'], push_notification_config=push, **more
        ),
    )


def _id() -> str:
    return str(uuid.uuid4())


class Driver:
    _client: A2AClient

    async def discover(self, agent_url: str, binding: str) -> list[Observation]:
        http = httpx.AsyncClient()
        card = await A2ACardResolver(http, agent_url).get_agent_card()
        self._client = A2AClient(http, agent_card=card)
        return [
            {'kind': 'card', 'text': card.name, 'note': card.protocol_version},
            {'kind': 'interface', 'note': card.preferred_transport, 'url': card.url},
        ]

    async def send(self, turn: Turn) -> Observation:
        request = SendMessageRequest(id=_id(), params=_params(turn, blocking=not turn.now))
        return _see(_result(await self._client.send_message(request)))

    async def stream(self, turn: Turn) -> AsyncIterator[Observation]:
        request = SendStreamingMessageRequest(id=_id(), params=_params(turn))
        async for response in self._client.send_message_streaming(request):
            yield _see(_result(response))

    async def get(self, task: str) -> Observation:
        return _see(_result(await self._client.get_task(GetTaskRequest(id=_id(), params=TaskQueryParams(id=task)))))

    async def cancel(self, task: str) -> Observation:
        return _see(_result(await self._client.cancel_task(CancelTaskRequest(id=_id(), params=TaskIdParams(id=task)))))

    async def set_push(self, task: str, url: str, token: str) -> Observation:
        config = PushNotificationConfig(id='peer-hook', url=url, token=token)
        request = SetTaskPushNotificationConfigRequest(
            id=_id(), params=TaskPushNotificationConfig(task_id=task, push_notification_config=config)
        )
        return _config(_result(await self._client.set_task_callback(request)))

    async def get_push(self, task: str, config: str) -> Observation:
        request = GetTaskPushNotificationConfigRequest(
            id=_id(), params=GetTaskPushNotificationConfigParams(id=task, push_notification_config_id=config)
        )
        return _config(_result(await self._client.get_task_callback(request)))

    async def list_push(self, task: str) -> list[Observation]:
        raise NotImplementedError

    async def delete_push(self, task: str, config: str) -> Observation:
        raise NotImplementedError

    async def list(self, context: str) -> list[Observation]:
        raise NotImplementedError

    def code(self, error: Exception) -> str:
        return type(error).__name__


if __name__ == '__main__':
    main(Driver())
