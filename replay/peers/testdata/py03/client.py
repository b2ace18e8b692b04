"""The client of the Python a2a-sdk 0.3.x. It can neither list nor delete push configurations."""

import uuid
from collections.abc import AsyncIterator
from typing import Any

import httpx

from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.types import (
    AgentCard,
    GetTaskPushNotificationConfigParams,
    Message,
    Part,
    PushNotificationConfig,
    Role,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TextPart,
)

from script import Observation, Turn, main, observation

_KINDS = {'status-update': 'statusUpdate', 'artifact-update': 'artifactUpdate'}


def _see(value: Any) -> Observation:
    plain = value.model_dump(mode='json', by_alias=True, exclude_none=True)
    return observation(_KINDS.get(plain['kind'], plain['kind']), plain)


def _config(value: TaskPushNotificationConfig) -> Observation:
    config = value.push_notification_config
    return {'kind': 'config', 'task': value.task_id, 'config': config.id, 'url': config.url, 'note': config.token}


def _message(u: Turn) -> Message:
    return Message(
        role=Role.user, message_id=str(uuid.uuid4()), parts=[Part(root=TextPart(text=u.text))],
        task_id=u.task, context_id=u.context,
    )


class Driver:
    """Drives a client of the SDK per way of sending, since that is a matter of a client's configuration there."""

    _card: AgentCard
    _binding: str
    _http: httpx.AsyncClient
    _once: Client

    async def discover(self, agent_url: str, binding: str) -> list[Observation]:
        self._http = httpx.AsyncClient()
        self._binding = binding
        self._card = card = await A2ACardResolver(self._http, agent_url).get_agent_card()
        self._once = self._client(streaming=False)
        return [
            {'kind': 'card', 'text': card.name, 'note': card.protocol_version},
            {'kind': 'interface', 'note': card.preferred_transport, 'url': card.url},
            *(
                {'kind': 'interface', 'note': i.transport, 'url': i.url}
                for i in card.additional_interfaces or []
            ),
        ]

    def _client(self, **options: Any) -> Client:
        if self._binding == 'GRPC':
            import grpc

            options['grpc_channel_factory'] = grpc.aio.insecure_channel
        config = ClientConfig(httpx_client=self._http, supported_transports=[self._binding], **options)
        return ClientFactory(config).create(self._card)

    async def send(self, turn: Turn) -> Observation:
        pushes = []
        if turn.webhook:
            pushes = [PushNotificationConfig(url=turn.webhook, token=turn.token)]
        client = self._client(streaming=False, polling=turn.now, push_notification_configs=pushes)
        answers = [e async for e in client.send_message(_message(turn))]
        # A task comes with the event that changed it, of which there is none here.
        return _see(answers[-1] if isinstance(answers[-1], Message) else answers[-1][0])

    async def stream(self, turn: Turn) -> AsyncIterator[Observation]:
        async for event in self._client(streaming=True).send_message(_message(turn)):
            if isinstance(event, Message):
                yield _see(event)
            else:
                task, update = event
                yield _see(update or task)

    async def get(self, task: str) -> Observation:
        return _see(await self._once.get_task(TaskQueryParams(id=task)))

    async def cancel(self, task: str) -> Observation:
        return _see(await self._once.cancel_task(TaskIdParams(id=task)))

    async def set_push(self, task: str, url: str, token: str) -> Observation:
        config = PushNotificationConfig(id='peer-hook', url=url, token=token)
        return _config(
            await self._once.set_task_callback(
                TaskPushNotificationConfig(task_id=task, push_notification_config=config)
            )
        )

    async def get_push(self, task: str, config: str) -> Observation:
        return _config(
            await self._once.get_task_callback(
                GetTaskPushNotificationConfigParams(id=task, push_notification_config_id=config)
            )
        )

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
