// An agent of @a2a-js/sdk 1.x that asks the next one of a chain, by stream over JSON-RPC, before it answers; or nobody,
// as the last of it. It follows no plan to ask three.
//
// Its standard input has a plan on each line (see orchestrator.go), which it follows from the next message on. It
// prints {"planned": true} when it has taken one, and {"call": ID, "for": MESSAGE-ID} for each request that it makes,
// by its X-Request-Id, and for each message.

import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes, randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import express from "express";
import {
  AgentCard,
  Message,
  SendMessageRequest,
  StreamResponse,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from "@a2a-js/sdk";
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from "@a2a-js/sdk/server/express";

import { serve } from "../js/serve.mjs";

const tell = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const textOf = (parts) => (parts ?? []).map((part) => part.text ?? "").join("");
const hex = (bytes) => randomBytes(bytes).toString("hex");

/** A traceparent of the same trace, with a span id of its own: W3C Trace Context, section 3.2. */
const childOf = (trace) => trace.replace(/^([^-]*-[^-]*-)[^-]*/, `$1${hex(8)}`);

/** Lets so many come together, again and again. */
class Meeting {
  #waiting = [];

  constructor(of) {
    this.of = of;
  }

  async wait() {
    if (this.#waiting.length + 1 < this.of) {
      await new Promise((resolve) => this.#waiting.push(resolve));
      return;
    }
    this.#waiting.splice(0).forEach((resolve) => resolve());
  }
}

/** The traceparent of the request that is being answered. */
const traced = new AsyncLocalStorage();

class Executor {
  #plan = {};
  #users = new Meeting(1);

  follow(plan) {
    this.#plan = plan;
    this.#users = new Meeting(plan.together);
    tell({ planned: true });
  }

  async execute({ userMessage, taskId, contextId }, bus) {
    const plan = this.#plan;
    const users = this.#users;
    const said = Message.toJSON(userMessage);
    const text = textOf(said.parts);
    const status = (state) =>
      AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({
        taskId, contextId, status: { state, timestamp: new Date().toISOString() },
      }));
    bus.publish(AgentEvent.task(Task.fromJSON({
      id: taskId, contextId, history: [said],
      status: { state: "TASK_STATE_SUBMITTED", timestamp: new Date().toISOString() },
    })));
    bus.publish(status("TASK_STATE_WORKING"));
    await users.wait();
    const answer = plan.next ? await this.#handOn(plan, said.messageId, text, contextId) : "";
    await users.wait();
    bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({
      taskId, contextId, lastChunk: true,
      artifact: { artifactId: randomUUID(), parts: [{ text: `${text}: ${answer}` }] },
    })));
    bus.publish(status("TASK_STATE_COMPLETED"));
    bus.finished();
  }

  cancelTask = async () => {};

  /** Asks the next agent of a chain what the user asked. */
  async #handOn(plan, forMessage, text, contextId) {
    const trace = plan.trace ? (traced.getStore() ?? `00-${hex(16)}-${hex(8)}-01`) : "";
    const fetchImpl = (url, init = {}) => {
      const headers = new Headers(init.headers);
      const call = randomUUID();
      headers.set("X-Request-Id", call);
      if (trace) {
        headers.set("traceparent", childOf(trace));
      }
      tell({ call, for: forMessage });
      return fetch(url, { ...init, headers });
    };
    const card = await new DefaultAgentCardResolver({ fetchImpl }).resolve(plan.next);
    const client = await new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })] })
      .createFromAgentCard(card);
    const messageId = randomUUID();
    tell({ call: messageId, for: forMessage });
    const message = { role: "ROLE_USER", messageId, parts: [{ text }], ...(plan.context && { contextId }) };
    let answer = "";
    for await (const event of client.sendMessageStream(SendMessageRequest.fromJSON({ message }))) {
      answer += textOf(StreamResponse.toJSON(event).artifactUpdate?.artifact?.parts);
    }
    return answer;
  }
}

const executor = new Executor();
const app = express();
serve(app, (url) => {
  const card = AgentCard.fromJSON({
    name: "orchestrator js1",
    description: "asks another agent, with @a2a-js/sdk, 1.x line",
    version: "1.0.0",
    supportedInterfaces: [
      { url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: `${url}/rest`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
    ],
    capabilities: { streaming: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "moves", name: "moves", description: "hands on what it is asked", tags: ["test"] }],
  });
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  app.use((req, _res, next) => traced.run(req.headers.traceparent, next));
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/rpc", jsonRpcHandler(options));
  app.use("/rest", restHandler(options));
});
createInterface({ input: process.stdin }).on("line", (line) => executor.follow(JSON.parse(line)));
