import { createServer, type Server } from "node:net";

const TRIES = 50;
const held = new Map<number, Server>();

/** Listens on this port of all network interfaces, as the service does; null if something else does already. */
const listenOn = (port: number): Promise<Server | null> =>
  new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", () => resolve(null));
    server.listen(port, () => resolve(server.unref()));
  });

/** The wanted port, or the next one that is free. It stays taken until letGo, so that another demo on this machine does not choose it. */
export async function holdPort(wanted: number): Promise<number> {
  for (let port = wanted; port < wanted + TRIES && port < 65_536; port++) {
    const server = await listenOn(port);
    if (server === null) continue;
    held.set(port, server);
    return port;
  }
  throw new Error(`The ports from ${wanted} to ${wanted + TRIES - 1} are all taken.`);
}

/** Frees the port just before its server starts. Returns it. */
export async function letGo(port: number): Promise<number> {
  const server = held.get(port);
  held.delete(port);
  if (server) await new Promise((resolve) => server.close(resolve));
  return port;
}
