// The client of @a2a-js/sdk 0.3.x sends one text: node once.mjs URL TEXT send|stream.

import { randomUUID } from "node:crypto";
import { ClientFactory, DefaultAgentCardResolver } from "@a2a-js/sdk/client";

const [url, text, mode] = process.argv.slice(2);
const card = await new DefaultAgentCardResolver().resolve(url);
const client = await new ClientFactory().createFromAgentCard(card);
const request = {
  message: { kind: "message", role: "user", messageId: randomUUID(), parts: [{ kind: "text", text }] },
};
if (mode === "send") await client.sendMessage(request);
else for await (const _ of client.sendMessageStream(request));
process.exit(0);
