// A client program: it plays the script of this directory's neighbours with the SDK behind a driver, and prints what
// it saw, one JSON object per line.

import { setTimeout as delay } from "node:timers/promises";

const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

const texts = (parts) => (parts ?? []).map((part) => part.text ?? "").join("");

/** What there is to say about a message, task or event, given as plain JSON; its kind as the A2A 1.0 wrapper says it. */
export function observation(kind, value) {
  switch (kind) {
    case "message":
      return { kind, text: texts(value.parts), task: value.taskId, context: value.contextId };
    case "task":
      return {
        kind,
        state: value.status?.state,
        text: texts(value.status?.message?.parts),
        artifacts: (value.artifacts ?? []).map((artifact) => texts(artifact.parts)),
        history: (value.history ?? []).length,
        task: value.id,
        context: value.contextId,
      };
    case "statusUpdate":
      return {
        kind: "status",
        state: value.status?.state,
        text: texts(value.status?.message?.parts),
        final: value.final,
        task: value.taskId,
        context: value.contextId,
      };
    case "artifactUpdate":
      return {
        kind: "artifact",
        text: texts(value.artifact?.parts),
        append: value.append,
        last: value.lastChunk,
        task: value.taskId,
        context: value.contextId,
        artifact: value.artifact?.artifactId,
      };
    default:
      return { kind: `unknown ${kind}` };
  }
}

class Script {
  constructor(driver, webhook) {
    this.driver = driver;
    this.webhook = webhook;
  }

  note(step, ...seen) {
    seen.forEach((one) => print({ ...one, step }));
  }

  error(err) {
    return { kind: "error", code: this.driver.code(err), text: err.message };
  }

  /** Notes what a request answered, or the error that came instead, and returns the answer. */
  async answer(step, request) {
    try {
      const answer = await request;
      this.note(step, answer);
      return answer;
    } catch (err) {
      this.note(step, this.error(err));
      return {};
    }
  }

  async answers(step, request) {
    try {
      const list = await request;
      this.note(step, { kind: "list", note: `of ${list.length}` }, ...list);
    } catch (err) {
      this.note(step, this.error(err));
    }
  }

  async stream(step, turn, on = async () => {}) {
    try {
      for await (const event of this.driver.stream(turn)) {
        this.note(step, event);
        await on(event);
      }
      this.note(step, { kind: "done" });
    } catch (err) {
      this.note(step, this.error(err));
    }
  }

  release(step, task) {
    return this.answer(`${step} release`, this.driver.send({ text: `release ${task}` }));
  }

  /** Asks for a task until its state is the wanted one. How often that takes is chance, so only the last is noted. */
  async poll(step, task, state) {
    for (;;) {
      const answer = await this.driver.get(task);
      if ((answer.state ?? "").toLowerCase().endsWith(state)) {
        this.note(step, answer);
        return;
      }
      await delay(10);
    }
  }

  async play(agentURL, binding) {
    this.note("discover", ...(await this.driver.discover(agentURL, binding)));
    await this.answer("message", this.driver.send({ text: "hello" }));
    const ended = await this.answer("task", this.driver.send({ text: "work" }));
    await this.stream("stream", { text: "stream" }, async (event) => {
      if (event.kind === "artifact" && !event.last) {
        await this.release("stream", event.task);
      }
    });
    await this.polling();
    await this.multiTurn();
    await this.stream("fail", { text: "fail" });
    await this.canceling();
    await this.pushing();
    await this.answer(
      "push inline",
      this.driver.send({ text: "work", webhook: `${this.webhook}/inline`, token: "inline-token" }),
    );
    await this.answer("get unknown", this.driver.get("no-such-task"));
    await this.answer("cancel ended", this.driver.cancel(ended.task));
  }

  async polling() {
    const { task, context } = await this.driver.send({ text: "poll", now: true });
    this.note("poll", { kind: "task", task, context });
    await this.poll("poll", task, "working");
    await this.release("poll", task);
    await this.poll("poll", task, "completed");
  }

  async multiTurn() {
    const { task, context } = await this.answer("multi-turn", this.driver.send({ text: "ask" }));
    await this.answer("multi-turn", this.driver.send({ text: "blue", task, context }));
    if (this.driver.list) {
      await this.answers("list", this.driver.list(context));
    }
  }

  /** Cancels a task while watching it. The answer is read before the rest of the stream, so their order is fixed. */
  async canceling() {
    let canceled = false;
    await this.stream("cancel", { text: "wait" }, async (event) => {
      if (!canceled && (event.state ?? "").toLowerCase().endsWith("working")) {
        canceled = true;
        await this.answer("cancel answer", this.driver.cancel(event.task));
      }
    });
  }

  /** The task rests at input-required meanwhile, so that no event of its own comes in between. */
  async pushing() {
    const { task, context } = await this.answer("push", this.driver.send({ text: "ask" }));
    const { config } = await this.answer(
      "push set",
      this.driver.setPush(task, `${this.webhook}/deleted`, "deleted-token"),
    );
    await this.answer("push get", this.driver.getPush(task, config));
    await this.answers("push list", this.driver.listPush(task));
    await this.answer(
      "push delete",
      this.driver.deletePush(task, config).then(() => ({ kind: "done" })),
    );
    await this.answers("push list", this.driver.listPush(task));
    await this.answer("push", this.driver.send({ text: "blue", task, context }));
  }
}

/** Runs the program: node client.mjs AGENT-URL BINDING WEBHOOK-URL. */
export async function main(driver) {
  const [agentURL, binding, webhook] = process.argv.slice(2);
  await new Script(driver, webhook).play(agentURL, binding);
  process.exit(0); // connections that are kept alive would hold the process
}
