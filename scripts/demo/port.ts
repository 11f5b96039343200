import { createServer } from "node:net";

const TRIES = 50;

/** Whether a server can listen on this port of all network interfaces, as the service does. */
const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, () => server.close(() => resolve(true)));
  });

/** The wanted port, or the next one that is free. */
export async function choosePort(wanted: number): Promise<number> {
  for (let port = wanted; port < wanted + TRIES && port < 65_536; port++) if (await isFree(port)) return port;
  throw new Error(`The ports from ${wanted} to ${wanted + TRIES - 1} are all taken.`);
}
