"""The agent of the Python a2a-sdk 0.3.x, over JSON-RPC and HTTP+JSON; with the argument grpc, over gRPC alone."""

import asyncio
import sys
import uuid
from datetime import datetime, timezone

import httpx
from starlette.applications import Starlette
from starlette.routing import Mount

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import (
    BasePushNotificationSender,
    InMemoryPushNotificationConfigStore,
    InMemoryTaskStore,
)
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Artifact,
    Message,
    Part,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
    TextPart,
)

from behavior import STATES, Gates, Move, act
from serve import serve

OVER_GRPC = None
if sys.argv[1:] == ['grpc']:
    from overgrpc import service

    OVER_GRPC = service()


def card(url: str) -> AgentCard:
    return AgentCard(
        protocol_version='0.3.0',
        name='peer py03',
        description='an agent of a2a-sdk for Python, 0.3 line',
        version='1.0.0',
        url=OVER_GRPC.address if OVER_GRPC else f'{url}/rpc',
        preferred_transport='GRPC' if OVER_GRPC else 'JSONRPC',
        additional_interfaces=None if OVER_GRPC else [
            AgentInterface(url=f'{url}/rpc', transport='JSONRPC'),
            AgentInterface(url=f'{url}/rest', transport='HTTP+JSON'),
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[
            AgentSkill(id='moves', name='moves', description='does what the first word says', tags=['test'])
        ],
    )


def status(state: str, message: Message | None = None) -> TaskStatus:
    return TaskStatus(
        state=TaskState(state), message=message, timestamp=datetime.now(timezone.utc).isoformat()
    )


class Executor(AgentExecutor):
    """Makes the moves as events of the SDK."""

    def __init__(self) -> None:
        self._gates = Gates()

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        artifact_id = str(uuid.uuid4())

        async def emit(move: Move) -> None:
            await event_queue.enqueue_event(self._event(move, context, artifact_id))

        answered = context.current_task is not None
        try:
            await act(context.get_user_input(), answered, self._gates, context.task_id, emit)
        except asyncio.CancelledError:
            # What cancel enqueues reaches the answer to the cancellation alone. Who watches the task learns of it
            # from the queue of the execution, and waits for ever if nothing closes that.
            await event_queue.enqueue_event(self._canceled(context))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await event_queue.enqueue_event(self._canceled(context))

    def _canceled(self, context: RequestContext) -> TaskStatusUpdateEvent:
        return TaskStatusUpdateEvent(
            task_id=context.task_id, context_id=context.context_id, status=status('canceled'), final=True
        )

    def _event(self, move: Move, context: RequestContext, artifact_id: str):
        ids = {'task_id': context.task_id, 'context_id': context.context_id}
        parts = [Part(root=TextPart(text=move.text))]

        def message(**more: str) -> Message:
            return Message(
                role=Role.agent, message_id=str(uuid.uuid4()), parts=parts, context_id=context.context_id, **more
            )

        if move.do == 'say':
            return message()
        if move.do == 'open':
            return Task(
                id=context.task_id, context_id=context.context_id, status=status('submitted'),
                history=[context.message],
            )
        if move.do == 'produce':
            artifact = Artifact(artifact_id=artifact_id, parts=parts)
            return TaskArtifactUpdateEvent(artifact=artifact, append=move.append, last_chunk=move.last, **ids)
        said = message(task_id=context.task_id) if move.text else None
        return TaskStatusUpdateEvent(status=status(STATES[move.do], said), final=move.do != 'work', **ids)


def make_app(url: str) -> Starlette:
    pushes = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandler(
        agent_executor=Executor(),
        task_store=InMemoryTaskStore(),
        push_config_store=pushes,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), pushes),
    )
    if OVER_GRPC:
        from a2a.grpc.a2a_pb2_grpc import add_A2AServiceServicer_to_server
        from a2a.server.request_handlers.grpc_handler import GrpcHandler

        OVER_GRPC.add(lambda server: add_A2AServiceServicer_to_server(GrpcHandler(card(url), handler), server))
    app = A2AStarletteApplication(agent_card=card(url), http_handler=handler).build(rpc_url='/rpc')
    app.routes.append(Mount('/rest', A2ARESTFastAPIApplication(agent_card=card(url), http_handler=handler).build()))
    return app


if __name__ == '__main__':
    serve(make_app, beside=OVER_GRPC and OVER_GRPC.begin)
