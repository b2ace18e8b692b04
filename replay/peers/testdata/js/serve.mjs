// An agent program: it prints {"ready": URL} when it answers, {"arrival": …} for each request, and ends when its
// standard input is closed.

const print = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

/**
 * Serves an express application on a port of loopback that the system chooses.
 *
 * @param {import("express").Express} app
 * @param {(url: string) => void} mount adds the routes once the URL is known
 */
export function serve(app, mount) {
  app.use((req, _res, next) => {
    print({
      arrival: {
        method: req.method,
        target: req.originalUrl,
        host: req.headers.host,
        remote: `${req.socket.remoteAddress}:${req.socket.remotePort}`,
      },
    });
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
