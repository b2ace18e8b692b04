// An agent program: it prints {"ready": URL} when it answers, {"arrival": …} for each request, {"sent": …} for each piece
// of an answer's body, and ends when its standard input is closed.

const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

/** Prints what is written into an answer's body, before it is written. */
function noteSent(res, arrival) {
  for (const name of ["write", "end"]) {
    const original = res[name];
    res[name] = function (chunk, encoding, ...rest) {
      if (typeof chunk === "string" || chunk instanceof Uint8Array) {
        print({ sent: { arrival, text: Buffer.from(chunk).toString() } });
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
  let arrivals = 0;
  app.use((req, res, next) => {
    print({
      arrival: {
        method: req.method,
        target: req.originalUrl,
        host: req.headers.host,
        remote: `${req.socket.remoteAddress}:${req.socket.remotePort}`,
      },
    });
    noteSent(res, arrivals++);
    next();
  });
  const server = app.listen(0, "127.0.0.1", () => {
    const url = `http://127.0.0.1:${server.address().port}`;
    mount(url);
    print({ ready: url });
  });
  process.stdin.resume();
  process.stdin.on("end", () => process.exit(0));
  process.on("SIGTERM", () => process.exit(0));
}
