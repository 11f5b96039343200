import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

export type Target = {
  readonly host: string;
  readonly port: number;
  /** The `sslmode` of the URL. Without one there is no TLS. */
  readonly sslMode: string | null;
};

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const YES = 83;

export function targetOf(url: string): Target {
  const { hostname, port, searchParams } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port || 5432), sslMode: searchParams.get("sslmode") };
}

function until<T>(socket: Socket, event: string, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => () => {
      for (const name of [event, "error", "close"]) socket.removeAllListeners(name);
      signal.removeEventListener("abort", onAbort);
      // An error without a listener would end the process. The connection adds its own listener a moment later.
      socket.on("error", () => {});
      settle();
    };
    const fail = (error: Error): void =>
      end(() => {
        socket.destroy();
        reject(error);
      })();
    const onAbort = (): void => fail(new Error("The database did not accept a connection in time."));
    signal.addEventListener("abort", onAbort, { once: true });
    socket.once(event, (value: T) => end(() => resolve(value))());
    socket.once("error", fail);
    socket.once("close", () => fail(new Error("The database closed a connection that was being opened.")));
  });
}

/** `prefer` and `allow` accept a server without TLS; only `verify-full` and `verify-ca` check the certificate. */
async function secure(socket: Socket, { host, sslMode }: Target, signal: AbortSignal): Promise<Socket> {
  socket.write(SSL_REQUEST);
  const answer = await until<Buffer>(socket, "data", signal);
  if (answer[0] !== YES || answer.length !== 1) {
    if (sslMode === "prefer" || sslMode === "allow") return socket;
    socket.destroy();
    throw new Error("The database offers no TLS, and sslmode asks for it.");
  }
  const verify = sslMode === "verify-full" || sslMode === "verify-ca";
  const secured = connectTls({ socket, rejectUnauthorized: verify, ...(isIP(host) === 0 && { servername: host }) });
  await until(secured, "secureConnect", signal);
  return secured;
}

export async function dial(target: Target, signal: AbortSignal): Promise<Socket> {
  const socket = connectTcp({
    host: target.host,
    port: target.port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: 10_000,
  });
  await until(socket, "connect", signal);
  return target.sslMode === null || target.sslMode === "disable" ? socket : secure(socket, target, signal);
}
