"""An agent of fasta2a, with no model behind it. Argument: the port."""

import sys
from contextlib import asynccontextmanager

import uvicorn
from fasta2a import FastA2A, Worker
from fasta2a.broker import InMemoryBroker
from fasta2a.storage import InMemoryStorage


class Echo(Worker):
    async def run_task(self, params):
        task = await self.storage.load_task(params["id"])
        await self.storage.update_task(task["id"], state="working")
        text = task["history"][-1]["parts"][0].get("text", "")
        answer = {"role": "agent", "parts": [{"text": text}], "message_id": "m-" + task["id"]}
        artifact = {"artifact_id": "a-" + task["id"], "name": "echo", "parts": [{"text": text}]}
        await self.storage.update_task(task["id"], state="completed", new_messages=[answer], new_artifacts=[artifact])

    async def cancel_task(self, params):
        await self.storage.update_task(params["id"], state="canceled")

    def build_message_history(self, history):
        return history

    def build_artifacts(self, result):
        return []


storage, broker, port = InMemoryStorage(), InMemoryBroker(), int(sys.argv[1])
worker = Echo(broker=broker, storage=storage)


@asynccontextmanager
async def lifespan(app):
    async with app.task_manager, worker.run():
        yield


url = f"http://127.0.0.1:{port}/"
uvicorn.run(FastA2A(storage=storage, broker=broker, url=url, name="echo", lifespan=lifespan), port=port, log_level="warning")
