// The agent of @a2a-js/sdk 0.3.x, over JSON-RPC and HTTP+JSON; with the argument grpc, over
// gRPC alone.

import { randomUUID } from "node:crypto";
import express from "express";
import {
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
} from "@a2a-js/sdk/server";
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from "@a2a-js/sdk/server/express";

import { Gates, act, states } from "../js/behavior.mjs";
import { listenGRPC } from "../js/grpc.mjs";
import { serve } from "../js/serve.mjs";

const overGRPC = process.argv[2] === "grpc" &&
  { ...await listenGRPC(await import("@grpc/grpc-js")), ...await import("@a2a-js/sdk/server/grpc") };

const card = (url) => ({
  protocolVersion: "0.3.0",
  name: "peer js03",
  description: "an agent of @a2a-js/sdk, 0.3 line",
  version: "1.0.0",
  ...(overGRPC ? { url: overGRPC.address, preferredTransport: "GRPC" } : {
    url: `${url}/rpc`,
    preferredTransport: "JSONRPC",
    additionalInterfaces: [
      { url: `${url}/rpc`, transport: "JSONRPC" },
      { url: `${url}/rest`, transport: "HTTP+JSON" },
    ],
  }),
  capabilities: { streaming: true, pushNotifications: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "moves", name: "moves", description: "does what the first word says", tags: ["test"] }],
});

const textOf = (message) => message.parts.map((part) => part.text ?? "").join("");

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
    bus.publish({
      kind: "status-update",
      taskId,
      contextId: this.#contexts.get(taskId),
      status: { state: "canceled", timestamp: new Date().toISOString() },
      final: true,
    });
    this.#cancels.get(taskId)?.();
  };

  #event(move, { userMessage, taskId, contextId, artifactId }) {
    const timestamp = new Date().toISOString();
    const message = (text) => ({
      kind: "message", role: "agent", messageId: randomUUID(), parts: [{ kind: "text", text }], contextId,
    });
    switch (move.do) {
      case "say":
        return message(move.text);
      case "open":
        return {
          kind: "task", id: taskId, contextId, status: { state: "submitted", timestamp }, history: [userMessage],
        };
      case "produce":
        return {
          kind: "artifact-update", taskId, contextId, append: Boolean(move.append), lastChunk: Boolean(move.last),
          artifact: { artifactId, parts: [{ kind: "text", text: move.text }] },
        };
      default: {
        const state = states[move.do];
        const status = { state, timestamp };
        if (move.text) {
          status.message = { ...message(move.text), taskId };
        }
        return { kind: "status-update", taskId, contextId, status, final: state !== "working" };
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
  if (overGRPC) overGRPC.add(overGRPC.A2AService, overGRPC.grpcService(options));
});
