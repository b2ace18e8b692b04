// The client of @a2a-js/sdk 1.x, once for each line of input: {"name", "url", "stream"}. It prints a line for each with
// what came of it. All run at once, and none longer than the patience in milliseconds that is its argument.

import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { SendMessageRequest } from "@a2a-js/sdk";
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from "@a2a-js/sdk/client";

const patience = Number(process.argv[2]);

async function play({ name, url, stream }) {
  const came = { name, events: 0 };
  const run = async () => {
    const card = await new DefaultAgentCardResolver().resolve(url);
    const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory()], preferredTransports: ["JSONRPC"] });
    const client = await factory.createFromAgentCard(card);
    const request = SendMessageRequest.fromJSON({
      message: { role: "ROLE_USER", messageId: randomUUID(), parts: [{ text: "work" }] },
      configuration: {},
    });
    if (!stream) {
      await client.sendMessage(request);
      came.events = 1;
      return;
    }
    for await (const _ of client.sendMessageStream(request)) came.events++;
  };
  let timer;
  const late = new Promise((resolve) => { timer = setTimeout(() => resolve("late"), patience); });
  try {
    came.late = (await Promise.race([run(), late])) === "late";
  } catch (err) {
    came.error = err.cause?.code ?? err.cause?.name ?? err.name;
  }
  clearTimeout(timer);
  process.stdout.write(`${JSON.stringify(came)}\n`);
}

const all = [];
for await (const line of createInterface({ input: process.stdin })) all.push(play(JSON.parse(line)));
await Promise.all(all);
process.exit(0);
