"""What an agent does about a text: a list of moves, the same in every language of this directory's neighbours."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Move:
    """One thing that an agent does."""

    do: str
    text: str = ''
    append: bool = False
    last: bool = False


_TABLE = {
    'work': [Move('open'), Move('work'), Move('produce', 'done', last=True), Move('complete')],
    'stream': [
        Move('open'),
        Move('work'),
        Move('produce', 'one'),
        Move('pause'),
        Move('produce', ' two', append=True),
        Move('pause'),
        Move('produce', ' three', append=True, last=True),
        Move('complete'),
    ],
    'poll': [
        Move('open'),
        Move('work'),
        Move('pause'),
        Move('produce', 'polled', last=True),
        Move('complete'),
    ],
    'ask': [Move('open'), Move('input_required', 'which colour?')],
    'wait': [Move('open'), Move('work'), Move('hold')],
    'fail': [Move('open'), Move('work'), Move('fail', 'out of paint')],
    'release': [Move('say', 'released')],
}

#: The states that moves report, in the spelling of A2A 0.3.
STATES = {
    'work': 'working',
    'input_required': 'input-required',
    'complete': 'completed',
    'fail': 'failed',
}


def moves(text: str, answered: bool) -> list[Move]:
    """Returns the moves for a text. A task that has been asked back about takes any text for an answer."""
    if answered:
        return [Move('produce', f'colour: {text}', last=True), Move('complete')]
    return _TABLE.get(text.split(' ')[0], [Move('say', f'you said {text}')])


class Gates:
    """Holds back tasks until a client lets them go on."""

    def __init__(self) -> None:
        self._by_task: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(0))

    async def leave(self, task: str) -> None:
        """Returns when the task is released, once for each release."""
        await self._by_task[task].acquire()

    def open(self, text: str) -> None:
        """Releases the task that a text of the form "release TASK" names; other texts release nothing."""
        if text.startswith('release '):
            self._by_task[text.removeprefix('release ')].release()


async def act(
    text: str, answered: bool, gates: Gates, task: str, emit: Callable[[Move], Awaitable[None]]
) -> None:
    """Makes the moves for a text. A task that is held ends when the SDK cancels the coroutine."""
    gates.open(text)
    for move in moves(text, answered):
        if move.do == 'pause':
            await gates.leave(task)
        elif move.do == 'hold':
            await asyncio.Event().wait()
        else:
            await emit(move)
