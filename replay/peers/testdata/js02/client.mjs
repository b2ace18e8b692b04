// The client of @a2a-js/sdk 0.2.x, over JSON-RPC. It can neither list nor delete push configurations.

import { randomUUID } from "node:crypto";
import { A2AClient } from "@a2a-js/sdk/client";

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
  configuration: { acceptedOutputModes: ["text/plain"], blocking: !now, ...(webhook && { pushNotificationConfig: { url: webhook, token } }) },
});

// result returns what a response holds, or throws the error that it holds.
const result = (response) => {
  if (response.error) {
    throw Object.assign(new Error(response.error.message), { code: response.error.code });
  }
  return response.result;
};

let client;

await main({
  async discover(agentURL) {
    client = new A2AClient(agentURL);
    const card = await client.getAgentCard();
    return [
      { kind: "card", text: card.name, note: card.protocolVersion },
      { kind: "interface", note: card.preferredTransport, url: card.url },
    ];
  },
  send: async (turn) => see(result(await client.sendMessage(params(turn)))),
  async *stream(turn) {
    for await (const event of client.sendMessageStream(params(turn))) {
      yield see(event);
    }
  },
  get: async (id) => observation("task", result(await client.getTask({ id, historyLength: 10 }))),
  cancel: async (id) => observation("task", result(await client.cancelTask({ id }))),
  setPush: async (taskId, url, token) =>
    config(result(await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: { id: "peer-hook", url, token } }))),
  getPush: async (id) => config(result(await client.getTaskPushNotificationConfig({ id }))),
  listPush: () => Promise.reject(new Error("this client has no operation for it")),
  deletePush: () => Promise.reject(new Error("this client has no operation for it")),
  code: (err) => String(err.code ?? err.name),
});
