// The client of @a2a-js/sdk 1.x.

import { randomUUID } from "node:crypto";
import {
  ListTasksRequest,
  Message,
  SendMessageRequest,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
} from "@a2a-js/sdk";
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";

import { main, observation } from "../js/script.mjs";

const see = (json) => observation(...Object.entries(json)[0]);

const config = (value) => {
  const c = TaskPushNotificationConfig.toJSON(value);
  return { kind: "config", task: c.taskId, config: c.id, url: c.url, note: c.token };
};

const request = ({ text, task, context, now, webhook, token }) =>
  SendMessageRequest.fromJSON({
    message: { role: "ROLE_USER", messageId: randomUUID(), parts: [{ text }], taskId: task, contextId: context },
    configuration: {
      returnImmediately: Boolean(now),
      ...(webhook && { taskPushNotificationConfig: { url: webhook, token } }),
    },
  });

const overGRPC = async (secure) => {
  const { GrpcTransportFactory } = await import("@a2a-js/sdk/client/grpc");
  const { credentials } = await import("@grpc/grpc-js");
  return new GrpcTransportFactory({ grpcChannelCredentials: secure ? credentials.createSsl() : undefined });
};

let client;

await main({
  async discover(agentURL, binding) {
    const card = await new DefaultAgentCardResolver().resolve(agentURL);
    const transports = binding === "GRPC" ? [await overGRPC(agentURL.startsWith("https://"))]
      : [new JsonRpcTransportFactory(), new RestTransportFactory()];
    const factory = new ClientFactory({
      transports,
      preferredTransports: [binding],
    });
    client = await factory.createFromAgentCard(card);
    return [
      { kind: "card", text: card.name },
      ...card.supportedInterfaces.map((i) => ({
        kind: "interface", note: `${i.protocolBinding} ${i.protocolVersion}`, url: i.url,
      })),
    ];
  },
  async send(turn) {
    const result = await client.sendMessage(request(turn));
    // The result is a Task or a Message without a mark; only a Message has an id of its own kind.
    return "messageId" in result
      ? observation("message", Message.toJSON(result))
      : observation("task", Task.toJSON(result));
  },
  async *stream(turn) {
    for await (const event of client.sendMessageStream(request(turn))) {
      yield see(StreamResponse.toJSON(event));
    }
  },
  get: async (id) => observation("task", Task.toJSON(await client.getTask({ tenant: "", id }))),
  cancel: async (id) => observation("task", Task.toJSON(await client.cancelTask({ tenant: "", id, metadata: {} }))),
  setPush: async (taskId, url, token) =>
    config(await client.createTaskPushNotificationConfig(
      TaskPushNotificationConfig.fromJSON({ taskId, id: "peer-hook", url, token }),
    )),
  getPush: async (taskId, id) => config(await client.getTaskPushNotificationConfig({ tenant: "", taskId, id })),
  listPush: async (taskId) =>
    (await client.listTaskPushNotificationConfig({ tenant: "", taskId, pageSize: 0, pageToken: "" })).configs
      .map(config),
  deletePush: (taskId, id) => client.deleteTaskPushNotificationConfig({ tenant: "", taskId, id }),
  list: async (contextId) =>
    (await client.listTasks(ListTasksRequest.fromJSON({ contextId, includeArtifacts: true }))).tasks
      .map((task) => observation("task", Task.toJSON(task))),
  code: (err) => String(err.code ?? err.name),
});
