// The agent of @a2a-js/sdk 1.0.1, over JSON-RPC and HTTP+JSON.

import { randomUUID } from "node:crypto";
import express from "express";
import { AgentCard, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "@a2a-js/sdk";
import {
  AgentEvent,
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
} from "@a2a-js/sdk/server";
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from "@a2a-js/sdk/server/express";

import { Gates, act, states } from "../js/behavior.mjs";
import { serve } from "../js/serve.mjs";

const card = (url) =>
  AgentCard.fromJSON({
    name: "peer js10",
    description: "an agent of @a2a-js/sdk, 1.0 line",
    version: "1.0.0",
    supportedInterfaces: [
      { url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url: `${url}/rest`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
    ],
    capabilities: { streaming: true, pushNotifications: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "moves", name: "moves", description: "does what the first word says", tags: ["test"] }],
  });

const textOf = (message) => Message.toJSON(message).parts.map((part) => part.text ?? "").join("");
const stateOf = (state) => `TASK_STATE_${state.toUpperCase().replace("-", "_")}`;

class Executor {
  #gates = new Gates();
  #cancels = new Map();
  #contexts = new Map();

  async execute({ userMessage, taskId, contextId, task }, bus) {
    this.#contexts.set(taskId, contextId);
    const artifactId = randomUUID();
    await act(textOf(userMessage), Boolean(task), {
      gates: this.#gates,
      task: taskId,
      emit: (move) => bus.publish(this.#event(move, { userMessage, taskId, contextId, artifactId })),
      hold: () => new Promise((resolve) => this.#cancels.set(taskId, resolve)),
    });
    bus.finished();
  }

  cancelTask = async (taskId, bus) => {
    const status = { state: stateOf("canceled"), timestamp: new Date().toISOString() };
    bus.publish(AgentEvent.statusUpdate(
      TaskStatusUpdateEvent.fromJSON({ taskId, contextId: this.#contexts.get(taskId), status }),
    ));
    this.#cancels.get(taskId)?.();
  };

  #event(move, { userMessage, taskId, contextId, artifactId }) {
    const timestamp = new Date().toISOString();
    const message = (text) => ({ role: "ROLE_AGENT", messageId: randomUUID(), parts: [{ text }], contextId });
    switch (move.do) {
      case "say":
        return AgentEvent.message(Message.fromJSON(message(move.text)));
      case "open": {
        const status = { state: stateOf("submitted"), timestamp };
        const task = { id: taskId, contextId, status, history: [Message.toJSON(userMessage)] };
        return AgentEvent.task(Task.fromJSON(task));
      }
      case "produce":
        return AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({
          taskId, contextId, append: Boolean(move.append), lastChunk: Boolean(move.last),
          artifact: { artifactId, parts: [{ text: move.text }] },
        }));
      default: {
        const status = { state: stateOf(states[move.do]), timestamp };
        if (move.text) {
          status.message = { ...message(move.text), taskId };
        }
        return AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId, status }));
      }
    }
  }
}

const app = express();
serve(app, (url) => {
  const pushes = new InMemoryPushNotificationStore();
  const requestHandler = new DefaultRequestHandler(
    card(url), new InMemoryTaskStore(), new Executor(), undefined, pushes, new DefaultPushNotificationSender(pushes),
  );
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/rpc", jsonRpcHandler(options));
  app.use("/rest", restHandler(options));
});
