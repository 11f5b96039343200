import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { startListener, type ListenOptions } from "#lib/server/listener.ts";

async function listen(limits?: ListenOptions["limits"]) {
  const listener = await startListener({
    port: 0,
    dispatch: null,
    pages: (incoming, outgoing) => {
      incoming.on("error", () => {}).resume();
      incoming.once("end", () => outgoing.end("all of it"));
    },
    headers: {},
    ...(limits && { limits }),
  });
  onTestFinished(async () => void (await listener.drain(0)));
  return listener;
}

/** Opens a connection, sends this text, and collects the answer until the connection ends. */
function open(port: number, text: string) {
  const socket: Socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let answer = "";
  socket.on("error", () => {}).on("data", (chunk: Buffer) => (answer += chunk.toString()));
  const began = performance.now();
  const ended = new Promise<number>((resolve) => socket.once("close", () => resolve(performance.now() - began)));
  if (text !== "") socket.write(text);
  return { socket, ended, answer: () => answer };
}

const head = "POST / HTTP/1.1\r\nHost: localhost\r\n";

describe("a request that is sent slowly", () => {
  test("is ended when its headers take longer than the limit of ten seconds", async () => {
    const { port } = await listen();
    const half = open(port, head);
    const silent = open(port, "");
    const drip = open(port, head);
    const dripping = setInterval(() => drip.socket.write("X-A: b\r\n"), 500);
    for (const one of [half, silent, drip]) {
      const took = await one.ended;
      expect(took).toBeGreaterThan(9_500);
      expect(took).toBeLessThan(40_000);
    }
    clearInterval(dripping);
    expect(half.answer()).toMatch(/^HTTP\/1\.1 408 /);
  });

  test("is ended when its body takes too long, and answered when its body arrives in time", async () => {
    const { port } = await listen({ headersMs: 500, requestMs: 2_000 });
    const whole = open(port, `${head}Content-Length: 4\r\nConnection: close\r\n\r\n`);
    const slow = open(port, `${head}Content-Length: 1000\r\n\r\n`);
    const dripping = setInterval(() => slow.socket.write("x"), 200);
    await pause(1_000);
    whole.socket.write("body");
    const took = await slow.ended;
    clearInterval(dripping);
    expect(took).toBeLessThan(40_000);
    await whole.ended;
    expect(whole.answer()).toContain("all of it");
  });
});

describe("connections", () => {
  test("of one address are limited, even while they send nothing, until one of them ends", async () => {
    const { port } = await listen({ connections: { most: 40, each: 20, kept: 10 } });
    const held = Array.from({ length: 30 }, () => open(port, ""));
    let closed = 0;
    for (const { ended } of held) void ended.then(() => (closed += 1));
    await expect.poll(() => closed).toBe(10);
    await pause(100);
    expect(closed).toBe(10);
    const refused = open(port, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    await refused.ended;
    expect(refused.answer()).toBe("");
    held[0]!.socket.destroy();
    await pause(100);
    const next = open(port, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    await next.ended;
    expect(next.answer()).toContain("all of it");
  });
});
