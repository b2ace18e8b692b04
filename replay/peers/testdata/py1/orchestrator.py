"""An agent of the Python a2a-sdk 1.x that asks others, over HTTP+JSON, before it answers.

Its standard input has a plan on each line (see orchestrator.go), which it follows from the next message on. It prints
{"planned": true} when it has taken one, and {"call": ID, "for": MESSAGE-ID} for each request that it makes, by its
X-Request-Id, and for each message that goes to the next of a chain.
"""

import asyncio
import json
import secrets
import uuid
from contextvars import ContextVar
from typing import Any

import httpx
from google.protobuf.json_format import ParseDict
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from a2a.client import A2ACardResolver, Client, ClientConfig, ClientFactory
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import (
    AgentCard,
    Artifact,
    GetTaskRequest,
    Part,
    SendMessageRequest,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatusUpdateEvent,
)

from agent import card as agent_card
from agent import status
from serve import serve, tell

#: The notifications of a task: that it is there, that it is worked on, its artifact, its end.
NOTIFICATIONS = 4


def card(url: str) -> AgentCard:
    made = agent_card(url)
    made.name = 'orchestrator py1'
    made.description = 'asks other agents, with a2a-sdk for Python, 1.x line'
    made.capabilities.push_notifications = False
    return made


def _text(parts: Any) -> str:
    return ''.join(part.text for part in parts)


def _child_of(trace: str) -> str:
    """A traceparent of the same trace, with a span id of its own: W3C Trace Context, section 3.2."""
    version, trace_id, _, flags = trace.split('-', 3)
    return f'{version}-{trace_id}-{secrets.token_hex(8)}-{flags}'


def _new_trace() -> str:
    return f'00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01'


class User:
    """One message of a user, and what is asked of others because of it."""

    def __init__(
        self, plan: dict[str, Any], context: RequestContext, http: httpx.AsyncClient, hooks: 'Hooks'
    ) -> None:
        self._plan = plan
        self._http = http
        self._message = context.message.message_id
        self._hooks = hooks
        self.text = context.get_user_input()
        self._context = context.context_id if plan['context'] else ''
        headers = context.call_context.state['headers']
        self._trace = headers.get('traceparent', _new_trace()) if plan['trace'] else ''

    async def ask(self) -> list[str]:
        """Asks whom the plan names."""
        if self._plan['next']:
            return [await self._hand_on()]
        return await self._ask_three() if self._plan['stream'] else []

    async def _hand_on(self) -> str:
        """Asks the next agent of a chain what the user asked."""
        agent = await self._meet(self._plan['next'])
        request = self._request(self.text, context=self._context)
        tell({'call': request.message.message_id, 'for': self._message})
        answer = await agent.send(request)
        return ' '.join(_text(artifact.parts) for artifact in answer.task.artifacts)

    async def _ask_three(self) -> list[str]:
        """Asks the three agents at the same time. The stream ends last."""
        released = asyncio.Event()

        async def others() -> list[str]:
            try:
                return await asyncio.gather(self._be_notified(), self._be_refused())
            finally:
                released.set()

        followed, rest = await asyncio.gather(self._follow(released), others())
        return [followed, *rest]

    async def _follow(self, released: asyncio.Event) -> str:
        """Follows a task by stream, and releases it when the others have answered."""
        answer = ''
        agent = await self._meet(self._plan['stream'])
        async for event in agent.streaming.send_message(self._request('poll ', self.text, self._context)):
            if event.HasField('artifact_update'):
                answer += _text(event.artifact_update.artifact.parts)
            if event.status_update.status.state == TaskState.TASK_STATE_WORKING:
                await released.wait()
                await agent.send(self._request(f'release {event.status_update.task_id}'))
        return answer

    async def _be_notified(self) -> str:
        """Has a task done, waits for the notifications, and asks for it."""
        agent = await self._meet(self._plan['push'])
        url, notified = self._hooks.add()
        request = self._request('work ', self.text, self._context)
        request.configuration.return_immediately = True
        request.configuration.task_push_notification_config.url = url
        request.configuration.task_push_notification_config.token = str(uuid.uuid4())
        made = await agent.send(request)
        for _ in range(NOTIFICATIONS):
            await notified.acquire()
        task = await agent.once.get_task(GetTaskRequest(id=made.task.id))
        return ' '.join(_text(artifact.parts) for artifact in task.artifacts)

    async def _be_refused(self) -> str:
        """Waits for a task that fails."""
        agent = await self._meet(self._plan['fail'])
        answer = await agent.send(self._request('fail ', self.text, self._context))
        return _text(answer.task.status.message.parts)

    def _request(self, text: str, quote: str = '', context: str = '') -> SendMessageRequest:
        """A message, as to the three with the word that moves an agent, and what the user said in a part of its own."""
        parts = [{'text': text}, {'text': quote}] if quote else [{'text': text}]
        message: dict[str, Any] = {'role': 'ROLE_USER', 'messageId': str(uuid.uuid4()), 'parts': parts}
        if context:
            message['contextId'] = context
        return ParseDict({'message': message}, SendMessageRequest())

    async def _meet(self, agent_url: str) -> 'Agent':
        return Agent(self._http, await A2ACardResolver(self._http, agent_url).get_agent_card())

    async def account(self, request: httpx.Request) -> None:
        """Gives a request an id, says for whom it is, and hands the trace on."""
        request.headers['X-Request-Id'] = call = str(uuid.uuid4())
        if self._trace:
            request.headers['traceparent'] = _child_of(self._trace)
        tell({'call': call, 'for': self._message})


#: The user for whom something is asked.
_asking: ContextVar[User] = ContextVar('asking')


class Agent:
    """Another agent, as its clients see it: streaming is a matter of a client's configuration in this SDK."""

    def __init__(self, http: httpx.AsyncClient, found: AgentCard) -> None:
        def client(streaming: bool) -> Client:
            config = ClientConfig(streaming=streaming, supported_protocol_bindings=['HTTP+JSON'], httpx_client=http)
            return ClientFactory(config).create(found)

        self.once = client(streaming=False)
        self.streaming = client(streaming=True)

    async def send(self, request: SendMessageRequest) -> Any:
        return [answer async for answer in self.once.send_message(request)][-1]


class Hooks:
    """Receives notifications, those of each task at an address of its own."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._notified: dict[str, asyncio.Semaphore] = {}

    def add(self) -> tuple[str, asyncio.Semaphore]:
        """Returns an address, and what is released for each notification there."""
        name = str(uuid.uuid4())
        self._notified[name] = asyncio.Semaphore(0)
        return f'{self._url}/hook/{name}', self._notified[name]

    async def notified(self, request: Request) -> Response:
        self._notified[request.path_params['name']].release()
        return Response()


class Orchestrator(AgentExecutor):
    """Asks other agents about each message of a user."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._plan: dict[str, Any] = {}
        self._http = httpx.AsyncClient(event_hooks={'request': [self._account]}, timeout=60)  # for all users
        self._users = asyncio.Barrier(1)

    def follow(self, line: str) -> None:
        """Takes a plan. No user is here meanwhile."""
        self._plan = json.loads(line)
        self._users = asyncio.Barrier(self._plan['together'])
        tell({'planned': True})

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        ids = {'task_id': context.task_id, 'context_id': context.context_id}
        users, user = self._users, User(self._plan, context, self._http, self._hooks)
        _asking.set(user)
        await event_queue.enqueue_event(
            Task(
                id=context.task_id, context_id=context.context_id, status=status('submitted'),
                history=[context.message],
            )
        )
        await event_queue.enqueue_event(TaskStatusUpdateEvent(status=status('working'), **ids))
        await users.wait()
        answers = await user.ask()
        await users.wait()
        artifact = Artifact(artifact_id=str(uuid.uuid4()), parts=[Part(text=f'{user.text}: {", ".join(answers)}')])
        await event_queue.enqueue_event(TaskArtifactUpdateEvent(artifact=artifact, last_chunk=True, **ids))
        await event_queue.enqueue_event(TaskStatusUpdateEvent(status=status('completed'), **ids))

    async def _account(self, request: httpx.Request) -> None:
        await _asking.get().account(request)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        await event_queue.enqueue_event(
            TaskStatusUpdateEvent(
                task_id=context.task_id, context_id=context.context_id, status=status('canceled')
            )
        )


def main() -> None:
    """Runs the program."""
    orchestrators: list[Orchestrator] = []

    def make_app(url: str) -> Starlette:
        hooks = Hooks(url)
        orchestrators.append(Orchestrator(hooks))
        handler = DefaultRequestHandler(
            agent_executor=orchestrators[0], task_store=InMemoryTaskStore(), agent_card=card(url)
        )
        return Starlette(
            routes=[
                Route('/hook/{name}', hooks.notified, methods=['POST']),  # before the SDK's, which take any path
                *create_agent_card_routes(card(url)),
                *create_jsonrpc_routes(handler, '/rpc'),
                *create_rest_routes(handler, path_prefix='/rest'),
            ]
        )

    serve(make_app, lambda line: orchestrators[0].follow(line))


if __name__ == '__main__':
    main()
