import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { closePools } from "#lib/db/client.ts";
import { forget } from "#lib/process.ts";

/** The wire between this process and its database, in the test's hands. */
export type Wire = {
  /** Ends every connection and refuses new ones, as a server that died. */
  cut(): void;
  /** Carries nothing any more, and tells nobody: a host that lost its power. */
  freeze(): void;
  mend(): void;
  /** From the moment that a client sends this text on, answers are swallowed. Resolves when it was sent. */
  swallowAfter(text: string): Promise<void>;
};

async function moveTo(url: string): Promise<void> {
  await closePools();
  process.env["DATABASE_URL"] = url;
  forget("env");
}

/** Puts a wire between the pools of this process and the database, until the test ends. */
export async function throughWire(url: string): Promise<Wire> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let whole = true;
  let frozen = false;
  let trap: { readonly text: string; readonly sprung: () => void } | undefined;
  const server = createServer((client) => {
    if (!whole) return client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    let mute = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => [client, upstream].forEach((one) => one.destroy()));
    }
    client.on("data", (chunk) => {
      if (frozen) return;
      if (trap && chunk.includes(trap.text)) {
        mute = true;
        trap.sprung();
        trap = undefined;
      }
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => mute || frozen || client.write(chunk));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const own = new URL(url);
  own.hostname = "127.0.0.1";
  own.port = String((server.address() as AddressInfo).port);
  await moveTo(own.href);
  const cut = () => {
    whole = false;
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(async () => {
    cut();
    server.close();
    await moveTo(url);
  });
  return {
    cut,
    freeze: () => void (frozen = true),
    mend: () => {
      whole = true;
      frozen = false;
    },
    swallowAfter: (text) => new Promise((resolve) => void (trap = { text, sprung: resolve })),
  };
}
