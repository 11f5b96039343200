import { once } from "node:events";
import { createServer } from "node:net";

/* The ports are below the ephemeral ports (32768 and higher). An outgoing connection could take an ephemeral port before the
   server does. */
const FIRST = 20_000;
const COUNT = 12_000;

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const free = once(server, "listening").then(
    () => true,
    () => false,
  );
  server.listen(port);
  if (!(await free)) return false;
  await new Promise((done) => server.close(done));
  return true;
}

/** An unused port, for a server that must know its address before it starts. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
}
