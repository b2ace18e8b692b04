// An agent program: it prints {"ready": URL} when it answers, {"arrival": …} for each request, {"sent": …} for each piece
// of an answer's body, and ends when its standard input is closed.

const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

let arrivals = 0;

/** Prints that a request has come, and returns its number. */
export function noteArrival(arrival) {
  print({ arrival });
  return arrivals++;
}

/** Prints a piece of the answer to the request of that number, before it is written. */
export function noteSent(arrival, bytes) {
  print({ sent: { arrival, bytes: Buffer.from(bytes).toString("base64") } });
}

function noteBody(res, arrival) {
  for (const name of ["write", "end"]) {
    const original = res[name];
    res[name] = function (chunk, encoding, ...rest) {
      if (typeof chunk === "string" || chunk instanceof Uint8Array) {
        noteSent(arrival, chunk);
      }
      return original.call(this, chunk, encoding, ...rest);
    };
  }
}

/**
 * Serves an express application on a port of loopback that the system chooses.
 *
 * @param {import("express").Express} app
 * @param {(url: string) => void} mount adds the routes once the URL is known
 */
export function serve(app, mount) {
  app.use((req, res, next) => {
    noteBody(res, noteArrival({
      method: req.method,
      target: req.originalUrl,
      host: req.headers.host,
      remote: `${req.socket.remoteAddress}:${req.socket.remotePort}`,
    }));
    next();
  });
  const server = app.listen(0, "127.0.0.1", () => {
    const url = `http://127.0.0.1:${server.address().port}`;
    mount(url);
    print({ ready: url });
  });
  server.keepAliveTimeout = 120_000; // a client on a busy machine may be about to send where an idle connection is closed
  process.stdin.resume();
  process.stdin.on("end", () => process.exit(0));
  process.on("SIGTERM", () => process.exit(0));
}
