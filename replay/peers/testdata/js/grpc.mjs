// An agent's service of gRPC, on a port of its own: it prints what comes and goes as serve.mjs does. It is on TLS if
// PEER_CERT and PEER_KEY name files.

import { readFileSync } from "node:fs";

import { noteArrival, noteSent } from "./serve.mjs";

/** The prefix of a message that is not compressed: gRPC over HTTP2, "Length-Prefixed-Message". */
function framed(message) {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/**
 * Listens on a port of loopback that the system chooses, and returns its address and what adds a service.
 *
 * @param {import("@grpc/grpc-js")} grpc
 */
export async function listenGRPC(grpc) {
  const noting = (method, call) => {
    const arrival = noteArrival({
      method: "POST", target: method.path, host: call.getHost(), remote: call.getPeer(),
    });
    return new grpc.ServerInterceptingCall(call, {
      sendMessage: (message, next) => {
        noteSent(arrival, framed(method.responseSerialize(message)));
        next(message);
      },
    });
  };
  const { PEER_CERT, PEER_KEY } = process.env;
  const credentials = PEER_CERT
    ? grpc.ServerCredentials.createSsl(null, [{ cert_chain: readFileSync(PEER_CERT), private_key: readFileSync(PEER_KEY) }])
    : grpc.ServerCredentials.createInsecure();
  const server = new grpc.Server({ interceptors: [noting] });
  const port = await new Promise((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", credentials,
      (err, bound) => (err ? reject(err) : resolve(bound)));
  });
  return { address: `127.0.0.1:${port}`, add: (...service) => server.addService(...service) };
}
