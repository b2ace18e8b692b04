"""A client program: it plays the script of this directory's neighbours with the SDK behind a driver, and prints what
it saw, one JSON object per line."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from typing import Any, Protocol

Observation = dict[str, Any]


@dataclass
class Turn:
    """What a client says to an agent."""

    text: str
    task: str | None = None
    context: str | None = None
    now: bool = False
    webhook: str = ''
    token: str = ''


class Driver(Protocol):
    """One SDK's client. What the SDK lacks raises NotImplementedError, and the step is left out."""

    async def discover(self, agent_url: str, binding: str) -> list[Observation]: ...
    async def send(self, turn: Turn) -> Observation: ...
    def stream(self, turn: Turn) -> AsyncIterator[Observation]: ...
    async def get(self, task: str) -> Observation: ...
    async def cancel(self, task: str) -> Observation: ...
    async def set_push(self, task: str, url: str, token: str) -> Observation: ...
    async def get_push(self, task: str, config: str) -> Observation: ...
    async def list_push(self, task: str) -> list[Observation]: ...
    async def delete_push(self, task: str, config: str) -> Observation: ...
    async def list(self, context: str) -> list[Observation]: ...
    def code(self, error: Exception) -> str: ...


def _texts(parts: list[dict[str, Any]] | None) -> str:
    return ''.join(part.get('text', '') for part in parts or [])


def observation(kind: str, value: dict[str, Any]) -> Observation:
    """What there is to say about a message, task or event, given as plain JSON; its kind as the A2A 1.0 wrapper says it."""
    status = value.get('status', {})
    ids = {'task': value.get('taskId', ''), 'context': value.get('contextId', '')}
    said = {'state': status.get('state', ''), 'text': _texts(status.get('message', {}).get('parts'))}
    if kind == 'message':
        return {'kind': kind, 'text': _texts(value.get('parts')), **ids}
    if kind == 'task':
        return {
            'kind': kind,
            **said,
            'artifacts': [_texts(artifact.get('parts')) for artifact in value.get('artifacts', [])],
            'history': len(value.get('history', [])),
            **ids,
            'task': value.get('id', ''),
        }
    if kind == 'statusUpdate':
        return {'kind': 'status', **said, 'final': value.get('final', False), **ids}
    if kind == 'artifactUpdate':
        artifact = value.get('artifact', {})
        return {
            'kind': 'artifact',
            'text': _texts(artifact.get('parts')),
            'append': value.get('append', False),
            'last': value.get('lastChunk', False),
            **ids,
            'artifact': artifact.get('artifactId', ''),
        }
    return {'kind': f'unknown {kind}'}


def _is_working(seen: Observation) -> bool:
    return seen.get('state', '').lower().endswith('working')


class Script:
    """One client's way through everything that the agent can do."""

    def __init__(self, driver: Driver, webhook: str) -> None:
        self._driver = driver
        self._webhook = webhook

    def _note(self, step: str, *seen: Observation) -> None:
        for one in seen:
            print(json.dumps({**one, 'step': step}), flush=True)

    def _note_error(self, step: str, error: Exception) -> None:
        self._note(step, {'kind': 'error', 'code': self._driver.code(error), 'text': str(error)})

    async def _answer(self, step: str, request: Awaitable[Observation]) -> Observation:
        try:
            answer = await request
        except NotImplementedError:
            return {}
        except Exception as error:  # noqa: BLE001 - whatever the SDK raises is what its user sees
            self._note_error(step, error)
            return {}
        self._note(step, answer)
        return answer

    async def _answers(self, step: str, request: Awaitable[list[Observation]]) -> None:
        try:
            answers = await request
        except NotImplementedError:
            return
        except Exception as error:  # noqa: BLE001
            self._note_error(step, error)
            return
        self._note(step, {'kind': 'list', 'note': f'of {len(answers)}'}, *answers)

    async def _stream(self, step: str, turn: Turn) -> AsyncIterator[Observation]:
        try:
            async for event in self._driver.stream(turn):
                self._note(step, event)
                yield event
        except Exception as error:  # noqa: BLE001
            self._note_error(step, error)
            return
        self._note(step, {'kind': 'done'})

    async def _release(self, step: str, task: str) -> None:
        await self._answer(f'{step} release', self._driver.send(Turn(f'release {task}')))

    async def _poll(self, step: str, task: str, state: str) -> None:
        """Asks for a task until its state is the wanted one. How often that takes is chance: only the last is noted."""
        while True:
            answer = await self._driver.get(task)
            if answer['state'].lower().endswith(state):
                self._note(step, answer)
                return
            await asyncio.sleep(0.01)

    async def play(self, agent_url: str, binding: str) -> None:
        """Goes through the whole script."""
        self._note('discover', *await self._driver.discover(agent_url, binding))
        await self._answer('message', self._driver.send(Turn('hello')))
        ended = await self._answer('task', self._driver.send(Turn('work')))
        async for event in self._stream('stream', Turn('stream')):
            if event['kind'] == 'artifact' and not event['last']:
                await self._release('stream', event['task'])
        await self._polling()
        await self._multi_turn()
        async for _ in self._stream('fail', Turn('fail')):
            pass
        await self._canceling()
        await self._pushing()
        inline = Turn('work', webhook=f'{self._webhook}/inline', token='inline-token')
        await self._answer('push inline', self._driver.send(inline))
        await self._answer('get unknown', self._driver.get('no-such-task'))
        await self._answer('cancel ended', self._driver.cancel(ended.get('task', '')))

    async def _polling(self) -> None:
        started = await self._driver.send(Turn('poll', now=True))
        self._note('poll', {'kind': 'task', 'task': started['task'], 'context': started['context']})
        await self._poll('poll', started['task'], 'working')
        await self._release('poll', started['task'])
        await self._poll('poll', started['task'], 'completed')

    async def _multi_turn(self) -> None:
        asked = await self._answer('multi-turn', self._driver.send(Turn('ask')))
        ids = {'task': asked.get('task'), 'context': asked.get('context')}
        await self._answer('multi-turn', self._driver.send(Turn('blue', **ids)))
        await self._answers('list', self._driver.list(asked.get('context', '')))

    async def _canceling(self) -> None:
        """Cancels a task while watching it. The answer is read before the rest of the stream: their order is fixed."""
        canceled = False
        async for event in self._stream('cancel', Turn('wait')):
            if not canceled and _is_working(event):
                canceled = True
                await self._answer('cancel answer', self._driver.cancel(event['task']))

    async def _pushing(self) -> None:
        """The task rests at input-required meanwhile, so that no event of its own comes in between."""
        asked = await self._answer('push', self._driver.send(Turn('ask')))
        task = asked.get('task', '')
        made = await self._answer(
            'push set', self._driver.set_push(task, f'{self._webhook}/deleted', 'deleted-token')
        )
        config = made.get('config', '')
        await self._answer('push get', self._driver.get_push(task, config))
        await self._answers('push list', self._driver.list_push(task))
        await self._answer('push delete', self._driver.delete_push(task, config))
        await self._answers('push list', self._driver.list_push(task))
        ids = {'task': task, 'context': asked.get('context')}
        await self._answer('push', self._driver.send(Turn('blue', **ids)))


def main(driver: Driver) -> None:
    """Runs the program: python client.py AGENT-URL BINDING WEBHOOK-URL."""
    agent_url, binding, webhook = sys.argv[1:]
    asyncio.run(Script(driver, webhook).play(agent_url, binding))
