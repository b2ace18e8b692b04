// The client of @a2a-js/sdk 0.3.x.

import { randomUUID } from "node:crypto";
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk/client";

import { main, observation } from "../js/script.mjs";

const kinds = { "status-update": "statusUpdate", "artifact-update": "artifactUpdate" };
const see = (value) => observation(kinds[value.kind] ?? value.kind, value);

const config = ({ taskId, pushNotificationConfig: c }) => ({
  kind: "config", task: taskId, config: c.id, url: c.url, note: c.token,
});

const params = ({ text, task, context, now, webhook, token }) => ({
  message: {
    kind: "message", role: "user", messageId: randomUUID(), parts: [{ kind: "text", text }],
    taskId: task, contextId: context,
  },
  configuration: { blocking: !now, ...(webhook && { pushNotificationConfig: { url: webhook, token } }) },
});

let client;

await main({
  async discover(agentURL, binding) {
    const card = await new DefaultAgentCardResolver().resolve(agentURL);
    const transports = binding === "GRPC"
      ? [new (await import("@a2a-js/sdk/client/grpc")).GrpcTransportFactory()]
      : [new JsonRpcTransportFactory(), new RestTransportFactory()];
    const factory = new ClientFactory({
      transports,
      preferredTransports: [binding],
    });
    client = await factory.createFromAgentCard(card);
    return [
      { kind: "card", text: card.name, note: card.protocolVersion },
      { kind: "interface", note: card.preferredTransport, url: card.url },
      ...(card.additionalInterfaces ?? []).map((i) => ({ kind: "interface", note: i.transport, url: i.url })),
    ];
  },
  send: async (turn) => see(await client.sendMessage(params(turn))),
  async *stream(turn) {
    for await (const event of client.sendMessageStream(params(turn))) {
      yield see(event);
    }
  },
  get: async (id) => observation("task", await client.getTask({ id, historyLength: 10 })),
  cancel: async (id) => observation("task", await client.cancelTask({ id })),
  setPush: async (taskId, url, token) =>
    config(await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: { id: "peer-hook", url, token } })),
  getPush: async (id, pushNotificationConfigId) =>
    config(await client.getTaskPushNotificationConfig({ id, pushNotificationConfigId })),
  listPush: async (id) => (await client.listTaskPushNotificationConfig({ id })).map(config),
  deletePush: (id, pushNotificationConfigId) =>
    client.deleteTaskPushNotificationConfig({ id, pushNotificationConfigId }),
  code: (err) => String(err.code ?? err.name),
});
