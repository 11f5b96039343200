import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { onceMsMax } from "#lib/outbound/guarded-fetch.ts";
import { guarded, refusal, serve, short } from "#test/guarded.ts";

const kept = { each: 4, pairs: 8, lifeMs: 60_000 };
const many = { most: 64, each: 64, kept: 0 };
const places = { total: many, host: many, waiting: many, waitingForHost: many };
const post = { method: "POST", message: { body: "{}", headers: { "content-type": "application/json" } } } as const;

describe("kept connections", () => {
  test("are used again only by the same endpoint", async () => {
    const sockets = new Map<string, Set<Socket>>();
    const { port } = await serve(({ socket, url = "" }, response) => {
      sockets.set(url, (sockets.get(url) ?? new Set()).add(socket));
      response.end("ok");
    });
    const { fetch } = guarded({ ports: [port], limits: { kept } });
    for (let at = 0; at < 12; at += 1)
      for (const user of ["a", "b"]) {
        const reply = await fetch.once(`http://127.0.0.1:${port}/${user}`, { ...post, user });
        expect([reply?.status, Buffer.from(reply?.body ?? []).toString()]).toEqual([200, "ok"]);
      }
    const [a, b] = [sockets.get("/a")!, sockets.get("/b")!];
    expect([a.size <= kept.each, b.size <= kept.each, a.isDisjointFrom(b)]).toEqual([true, true, true]);
  });

  test("an endpoint that waits for answers does not delay another one", async () => {
    const { port } = await serve((request, response) => void (request.url === "/hang" || response.end()));
    const { fetch } = guarded({ ports: [port], limits: { kept, headersMs: 1_500, places } });
    const hanging = Array.from({ length: 4 }, () => fetch.once(`http://127.0.0.1:${port}/hang`, { ...post, user: "a" }));
    expect((await fetch.once(`http://127.0.0.1:${port}/`, { ...post, user: "b" }))?.status).toBe(200);
    expect(await Promise.all(hanging)).toEqual(hanging.map(() => null));
  });

  test("send a request once more if the server closed the connection before it answered", async () => {
    const answered = new WeakSet<Socket>();
    const { port, asked } = await serve(({ socket }, response) => {
      if (answered.has(socket)) return socket.destroy();
      answered.add(socket);
      return response.end();
    });
    const { fetch } = guarded({ ports: [port], limits: { kept } });
    for (let at = 0; at < 3; at += 1) {
      expect((await fetch.once(`http://127.0.0.1:${port}/`, { ...post, user: "a" }))?.status).toBe(200);
      // The client can use the connection again only a moment after the answer.
      await pause(50);
    }
    expect(asked).toHaveLength(5);
  });

  test("cut a long body, and report an answer that ends early or is too slow", async () => {
    const { port } = await serve((request, response) => {
      if (request.url === "/long") return response.end("x".repeat(200_000));
      response.writeHead(200, { "content-length": "100" }).write("begun");
      if (request.url === "/broken") setTimeout(() => response.destroy(), 20);
      return response;
    });
    const { fetch } = guarded({ ports: [port], limits: { kept, cutsBody: true, bodyBytes: 512 } });
    const read = (path: string) => fetch.once(`http://127.0.0.1:${port}${path}`, { ...post, user: "a" });
    expect(await read("/long")).toMatchObject({ status: 200, body: Buffer.from("x".repeat(512)), fault: null });
    expect(await read("/broken")).toMatchObject({ status: 200, body: null, fault: "broke off its answer" });
    expect(await read("/slow")).toMatchObject({ status: 200, body: null, fault: "sent its answer too slowly" });
  });

  test("end a request in time, even if interim answers keep it waiting and its first connection breaks", async () => {
    let isBroken = false;
    const { port, asked } = await serve((request, response) => {
      if (request.url === "/first") return response.end();
      const interim = setInterval(() => response.writeProcessing(), 50);
      response.once("close", () => clearInterval(interim));
      if (!isBroken) setTimeout(() => response.destroy(), 200);
      isBroken = true;
      return response;
    });
    const { fetch } = guarded({ ports: [port], limits: { kept } });
    const read = (path: string) => fetch.once(`http://127.0.0.1:${port}${path}`, { ...post, user: "a" });
    expect((await read("/first"))?.status).toBe(200);
    const began = performance.now();
    expect(await read("/waits")).toBeNull();
    expect(performance.now() - began).toBeLessThan(onceMsMax(short) + 10_000);
    expect(asked).toHaveLength(3);
  });

  test("use an address that is looked up and checked again at intervals", async () => {
    const { port } = await serve((_, response) => response.end());
    const names = { "rebinding.sandbox": [["127.0.0.1"], ["10.0.0.1"]] };
    const { fetch, lookups } = guarded({ ports: [port], names, limits: { kept: { ...kept, lifeMs: 100 } } });
    const ask = () => fetch.once(`http://rebinding.sandbox:${port}/`, { ...post, user: "a" });
    expect([(await ask())?.status, (await ask())?.status, lookups.length]).toEqual([200, 200, 1]);
    await pause(120);
    expect((await refusal(ask())).details.detail).toContain("does not lead to a public host");
    expect(lookups).toHaveLength(2);
  });
});
