"""An agent of the Python a2a-sdk 1.x that has a model of a framework decide which tools to call: the argument names the
framework.

The tools are weather and clock, of MCP servers over Streamable HTTP and on standard input and output, and book and paint,
which ask agents. Standard input has a plan on each line (see orchestrator.go), which it follows from the next message on.
It prints {"planned": true} when it has taken one, and the lines of the ledger.
"""

import asyncio
import json
import os
import secrets
import sys
import uuid
from contextlib import AsyncExitStack, asynccontextmanager

import ledger
from ledger import Turn, turn

ledger.keep()

import httpx
import httpx2
from google.protobuf.json_format import ParseDict
from google.protobuf.timestamp_pb2 import Timestamp
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette

from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import (
    AgentCard, Artifact, Part, SendMessageRequest, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
)

from serve import serve, tell

#: The key that all MCP servers get, in a header.
KEY = os.environ.get('TOOL_KEY', '')

#: Where the SDKs read the address of their model.
BASES = {'OPENAI_BASE_URL': '/v1', 'ANTHROPIC_BASE_URL': '', 'GOOGLE_GEMINI_BASE_URL': ''}


class Tools:
    """The tools of a plan, for all turns."""

    def __init__(self, plan):
        self.plan = plan
        self._http = httpx.AsyncClient(timeout=60)
        self._stdio = None

    async def begin(self, stack):
        """Starts the MCP server on standard input and output. Its one session serves all turns."""
        command = self.plan['clock']
        server = StdioServerParameters(command=command[0], args=command[1:])
        streams = await stack.enter_async_context(stdio_client(server))
        self._stdio = await stack.enter_async_context(ClientSession(*streams))
        await self._stdio.initialize()
        await self._stdio.list_tools()

    @asynccontextmanager
    async def weather_session(self):
        """A session of its own with the MCP server over HTTP."""
        async with (
            httpx2.AsyncClient(headers={'Authorization': f'Bearer {KEY}'}, timeout=60) as client,
            streamable_http_client(self.plan['weather'], http_client=client) as streams,
            ClientSession(*streams) as session,
        ):
            await session.initialize()
            yield session

    async def clock(self, city: str) -> str:
        """Tell the time."""
        result = await self._stdio.call_tool('clock', {'city': city}, meta={'call': ledger.enter()})
        return result.content[0].text

    async def book(self, city: str) -> str:
        """Book a room."""
        return await self._ask(self.plan['book'], f'work on a room in {city}', streaming=False)

    async def paint(self, city: str) -> str:
        """Paint a picture."""
        return await self._ask(self.plan['paint'], f'work on a picture of {city}', streaming=True)

    async def _ask(self, agent, text, streaming):
        card = await A2ACardResolver(self._http, agent).get_agent_card()
        client = ClientFactory(ClientConfig(streaming=streaming, httpx_client=self._http)).create(card)
        message = {'role': 'ROLE_USER', 'messageId': str(uuid.uuid4()), 'parts': [{'text': text}]}
        said = ''
        async for event in client.send_message(ParseDict({'message': message}, SendMessageRequest())):
            for artifact in [*event.task.artifacts, event.artifact_update.artifact]:
                said += ''.join(part.text for part in artifact.parts)
        return said


async def langgraph(text, tools):
    from langchain_openai import ChatOpenAI
    from langgraph.prebuilt import create_react_agent

    async with tools.weather_session() as session:

        async def weather(city: str) -> str:
            """Tell the weather."""
            return (await session.call_tool('weather', {'city': city})).content[0].text

        model = ChatOpenAI(model='gpt-langgraph', streaming=True, stream_usage=True, max_retries=0)
        agent = create_react_agent(model, [weather, tools.clock, tools.book, tools.paint])
        answer = await agent.ainvoke({'messages': [('user', text)]})
        return answer['messages'][-1].content


async def agents(text, tools):
    from agents import Agent, Runner, function_tool, set_tracing_disabled
    from agents.mcp import MCPServerStreamableHttp

    set_tracing_disabled(True)
    params = {'url': tools.plan['weather'], 'headers': {'Authorization': f'Bearer {KEY}'}}
    only = {'allowed_tool_names': ['weather']}
    async with MCPServerStreamableHttp(params, tool_filter=only, client_session_timeout_seconds=60) as server:
        functions = [function_tool(tool) for tool in (tools.clock, tools.book, tools.paint)]
        planner = Agent(name='planner', model='gpt-agents', tools=functions, mcp_servers=[server])
        run = Runner.run_streamed(planner, text)
        async for _ in run.stream_events():
            pass
        return run.final_output


async def adk(text, tools):
    os.environ['NO_GCE_CHECK'] = 'true'  # which asks the network
    from google.adk.agents import LlmAgent
    from google.adk.agents.run_config import RunConfig, StreamingMode
    from google.adk.runners import InMemoryRunner
    from google.adk.tools.mcp_tool import McpToolset, StreamableHTTPConnectionParams
    from google.genai import types

    params = StreamableHTTPConnectionParams(url=tools.plan['weather'], headers={'Authorization': f'Bearer {KEY}'}, timeout=60)
    toolset = McpToolset(connection_params=params, tool_filter=['weather'])
    planner = LlmAgent(name='planner', model='gemini-adk', tools=[toolset, tools.clock, tools.book, tools.paint])
    runner = InMemoryRunner(planner)
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id='user')
    said = ''
    async for event in runner.run_async(
        user_id='user', session_id=session.id, new_message=types.Content(role='user', parts=[types.Part(text=text)]),
        run_config=RunConfig(streaming_mode=StreamingMode.SSE),
    ):
        if event.is_final_response() and event.content:
            said = ''.join(part.text or '' for part in event.content.parts)
    await toolset.close()
    return said


async def litellm(text, tools):
    os.environ['LITELLM_LOCAL_MODEL_COST_MAP'] = 'True'
    import litellm

    async with tools.weather_session() as session:

        async def weather(city):
            return (await session.call_tool('weather', {'city': city})).content[0].text

        functions = {'weather': weather, 'clock': tools.clock, 'book': tools.book, 'paint': tools.paint}
        parameters = {'type': 'object', 'properties': {'city': {'type': 'string'}}, 'required': ['city']}
        offered = [
            {'type': 'function', 'function': {'name': name, 'description': name, 'parameters': parameters}}
            for name in functions
        ]
        messages = [{'role': 'user', 'content': text}]
        while True:
            stream = await litellm.acompletion(
                model='anthropic/claude-litellm', messages=messages, tools=offered, stream=True, max_tokens=100, max_retries=0
            )
            answer = litellm.stream_chunk_builder([chunk async for chunk in stream], messages=messages)
            message = answer.choices[0].message
            if not message.tool_calls:
                return message.content
            messages.append(message.model_dump())

            async def call(asked):
                said = await functions[asked.function.name](json.loads(asked.function.arguments)['city'])
                return {'role': 'tool', 'tool_call_id': asked.id, 'content': said}

            messages += await asyncio.gather(*map(call, message.tool_calls))


think = {'langgraph': langgraph, 'agents': agents, 'adk': adk, 'litellm': litellm}[sys.argv[1]]


def card(url):
    return ParseDict(
        {
            'name': f'planner {sys.argv[1]}',
            'description': 'asks a model, tools and other agents, with a2a-sdk for Python, 1.x line',
            'version': '1.0.0',
            'supportedInterfaces': [{'url': f'{url}/rpc', 'protocolBinding': 'JSONRPC', 'protocolVersion': '1.0'}],
            'capabilities': {'streaming': True},
            'defaultInputModes': ['text/plain'],
            'defaultOutputModes': ['text/plain'],
            'skills': [{'id': 'plans', 'name': 'plans', 'description': 'plans a trip', 'tags': ['test']}],
        },
        AgentCard(),
    )


def status(state):
    now = Timestamp()
    now.GetCurrentTime()
    return TaskStatus(state=TaskState.Value(f'TASK_STATE_{state}'), timestamp=now)


def reasons(e):
    """What an exception says, and those in a group."""
    inner = [reasons(one) for one in getattr(e, 'exceptions', [])]
    return ', '.join(inner) or f'{type(e).__name__}: {e}'


class Planner(AgentExecutor):
    """Plans a trip about each message."""

    def __init__(self):
        self._loop = None
        self._tools = None
        self._users = None
        self._ended = asyncio.Event()

    async def start(self):
        self._loop = asyncio.get_running_loop()
        self._serving = None

    def follow(self, line):
        """Takes a plan. No user is here meanwhile."""
        asyncio.run_coroutine_threadsafe(self._follow(json.loads(line)), self._loop).result()

    async def _follow(self, plan):
        if plan.get('proxy'):
            os.environ.update(HTTP_PROXY=plan['proxy'], NO_PROXY='')
        for variable, path in BASES.items():
            if plan.get('models'):
                os.environ[variable] = plan['models'] + path
        if self._tools is None:
            begun = asyncio.Event()
            self._tools = Tools(plan)
            self._serving = asyncio.create_task(self._serve(begun))
            await begun.wait()
        self._tools.plan = plan
        self._users = asyncio.Barrier(plan['together'])
        tell({'planned': True})

    async def _serve(self, begun):
        """Holds what all turns share until the program ends."""
        async with AsyncExitStack() as stack:
            await self._tools.begin(stack)
            begun.set()
            await self._ended.wait()

    async def end(self):
        self._ended.set()
        if self._serving:
            await self._serving

    async def execute(self, context, event_queue):
        ids = {'task_id': context.task_id, 'context_id': context.context_id}
        users, tools = self._users, self._tools
        trace = ''
        if tools.plan['trace']:
            fresh = f'00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01'
            trace = context.call_context.state['headers'].get('traceparent', fresh)
        turn.set(Turn(context.message.message_id, trace))
        await event_queue.enqueue_event(
            Task(id=context.task_id, context_id=context.context_id, status=status('WORKING'), history=[context.message])
        )
        await users.wait()
        end, said = 'COMPLETED', ''
        try:
            said = await think(context.get_user_input(), tools)
        except Exception as e:
            end, said = 'FAILED', reasons(e)
        await users.wait()
        artifact = Artifact(artifact_id=str(uuid.uuid4()), parts=[Part(text=said)])
        await event_queue.enqueue_event(TaskArtifactUpdateEvent(artifact=artifact, last_chunk=True, **ids))
        await event_queue.enqueue_event(TaskStatusUpdateEvent(status=status(end), **ids))

    async def cancel(self, context, event_queue):
        raise NotImplementedError


planner = Planner()
tell({'proxy': os.environ.get('HTTP_PROXY', '')})


def make_app(url):
    @asynccontextmanager
    async def lifespan(_):
        await planner.start()
        yield
        await planner.end()

    handler = DefaultRequestHandler(agent_executor=planner, task_store=InMemoryTaskStore(), agent_card=card(url))
    return Starlette(
        routes=[*create_agent_card_routes(card(url)), *create_jsonrpc_routes(handler, '/rpc')], lifespan=lifespan
    )


serve(make_app, planner.follow)
