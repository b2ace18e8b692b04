"""The agent of the Python a2a-sdk 1.x, over JSON-RPC and HTTP+JSON; with the argument grpc, over gRPC alone."""

import sys
import uuid

import httpx
from google.protobuf.json_format import ParseDict
from google.protobuf.timestamp_pb2 import Timestamp
from starlette.applications import Starlette

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
)
from a2a.types import (
    AgentCard,
    Artifact,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)

from behavior import STATES, Gates, Move, act
from serve import serve

OVER_GRPC = None
if sys.argv[1:] == ['grpc']:
    from overgrpc import service

    OVER_GRPC = service()


def card(url: str) -> AgentCard:
    return ParseDict(
        {
            'name': 'peer py1',
            'description': 'an agent of a2a-sdk for Python, 1.x line',
            'version': '1.0.0',
            'supportedInterfaces': [
                {'url': OVER_GRPC.address, 'protocolBinding': 'GRPC', 'protocolVersion': '1.0'}
            ] if OVER_GRPC else [
                {'url': f'{url}/rpc', 'protocolBinding': 'JSONRPC', 'protocolVersion': '1.0'},
                {'url': f'{url}/rest', 'protocolBinding': 'HTTP+JSON', 'protocolVersion': '1.0'},
            ],
            'capabilities': {'streaming': True, 'pushNotifications': True},
            'defaultInputModes': ['text/plain'],
            'defaultOutputModes': ['text/plain'],
            'skills': [
                {'id': 'moves', 'name': 'moves', 'description': 'does what the first word says', 'tags': ['test']}
            ],
        },
        AgentCard(),
    )


def status(state: str, message: Message | None = None) -> TaskStatus:
    now = Timestamp()
    now.GetCurrentTime()
    number = TaskState.Value(f'TASK_STATE_{state.upper().replace("-", "_")}')
    return TaskStatus(state=number, message=message, timestamp=now)


class Executor(AgentExecutor):
    """Makes the moves as events of the SDK."""

    def __init__(self) -> None:
        self._gates = Gates()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        artifact_id = str(uuid.uuid4())

        async def emit(move: Move) -> None:
            await event_queue.enqueue_event(self._event(move, context, artifact_id))

        answered = context.current_task is not None
        await act(context.get_user_input(), answered, self._gates, context.task_id, emit)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await event_queue.enqueue_event(
            TaskStatusUpdateEvent(
                task_id=context.task_id, context_id=context.context_id, status=status('canceled')
            )
        )

    def _event(self, move: Move, context: RequestContext, artifact_id: str):
        ids = {'task_id': context.task_id, 'context_id': context.context_id}

        def message(**more: str) -> Message:
            return Message(
                role=Role.ROLE_AGENT, message_id=str(uuid.uuid4()), parts=[Part(text=move.text)],
                context_id=context.context_id, **more,
            )

        if move.do == 'say':
            return message()
        if move.do == 'open':
            return Task(
                id=context.task_id, context_id=context.context_id, status=status('submitted'),
                history=[context.message],
            )
        if move.do == 'produce':
            artifact = Artifact(artifact_id=artifact_id, parts=[Part(text=move.text)])
            return TaskArtifactUpdateEvent(artifact=artifact, append=move.append, last_chunk=move.last, **ids)
        said = message(task_id=context.task_id) if move.text else None
        return TaskStatusUpdateEvent(status=status(STATES[move.do], said), **ids)


def make_app(url: str) -> Starlette:
    pushes = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Executor(),
        task_store=InMemoryTaskStore(),
        agent_card=card(url),
        push_config_store=pushes,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), pushes),
    )
    if OVER_GRPC:
        from a2a.server.request_handlers import GrpcHandler
        from a2a.types.a2a_pb2_grpc import add_A2AServiceServicer_to_server

        OVER_GRPC.add(lambda server: add_A2AServiceServicer_to_server(GrpcHandler(handler), server))
    return Starlette(
        routes=[
            *create_agent_card_routes(card(url)),
            *create_jsonrpc_routes(handler, '/rpc'),
            *create_rest_routes(handler, path_prefix='/rest'),
        ]
    )


if __name__ == '__main__':
    serve(make_app, beside=OVER_GRPC and OVER_GRPC.begin)
