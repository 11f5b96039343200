import type { RequestListener } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Guard } from "#lib/outbound/guarded-fetch.ts";
import { code, guarded, json, serve } from "#test/guarded.ts";

describe("guardedFetch and replies", () => {
  const against = async (listener: RequestListener, limits: Partial<Guard["limits"]> = {}) => {
    const { port, asked } = await serve(listener);
    const { fetch } = guarded({ ports: [port], limits });
    return { fetch: fetch, url: `http://127.0.0.1:${port}/`, asked };
  };

  it("sends no cookies, no credentials and accepts no compression", async () => {
    const { fetch, url, asked } = await against((_, response) => json(response, {}, { "set-cookie": "a=b" }));
    await fetch(url);
    await fetch(url);
    expect(Object.keys(asked[1]?.headers ?? {}).toSorted()).toEqual([
      "accept",
      "accept-encoding",
      "connection",
      "host",
      "user-agent",
    ]);
    expect(asked[1]?.headers["accept-encoding"]).toBe("identity");
  });

  it.each<readonly [string, string, RequestListener]>([
    ["HTML", "storefront_invalid", (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>")],
    ["no JSON", "storefront_invalid", (_, response) => response.writeHead(200, { "content-type": "application/json" }).end("{")],
    [
      "a field twice",
      "storefront_invalid",
      (_, response) => response.writeHead(200, { "content-type": "application/json" }).end('{"amount":"1","amount":"9"}'),
    ],
    ["deep nesting", "storefront_invalid", (_, response) => json(response, JSON.parse(`${"[".repeat(40)}${"]".repeat(40)}`))],
    ["half a character", "storefront_invalid", (_, response) => json(response, "\ud800")],
    [
      "a gzip bomb",
      "storefront_invalid",
      (_, response) =>
        response
          .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
          .end(gzipSync(Buffer.alloc(8 * 1024 * 1024))),
    ],
    ["one byte too many", "storefront_invalid", (_, response) => json(response, "a".repeat(4_095))],
    [
      "more than it announces",
      "storefront_unavailable",
      (request) =>
        request.socket.end(
          "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\ncontent-length: 1\r\n\r\n{}",
        ),
    ],
    ["nothing, and hangs up", "storefront_unavailable", (request) => request.socket.destroy()],
    ["no HTTP", "storefront_unavailable", (request) => request.socket.end("SSH-2.0\r\n")],
    ["half of an answer", "storefront_invalid", (request) => request.socket.end("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{")],
  ])("refuses %s with %s", async (_, expected, listener) => {
    const { fetch, url } = await against(listener);
    expect(await code(fetch(url))).toBe(expected);
  });

  it("ends the request if no headers arrive", async () => {
    const { fetch, url } = await against(() => {});
    expect(await code(fetch(url))).toBe("storefront_unavailable");
  });

  it("ends the request if the body arrives slowly but steadily", async () => {
    const { fetch, url } = await against((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const timer = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(timer));
    });
    const started = performance.now();
    expect(await code(fetch(url))).toBe("storefront_invalid");
    expect(performance.now() - started).toBeLessThan(20_000);
  });

  it("ends the request if the headers arrive slowly", async () => {
    const { fetch, url } = await against((request) => {
      request.socket.write("HTTP/1.1 200 OK\r\n");
      const timer = setInterval(() => request.socket.write("a: b\r\n"), 20);
      request.socket.on("close", () => clearInterval(timer));
    });
    expect(await code(fetch(url))).toBe("storefront_unavailable");
  });

  it("accepts headers of 32 KiB", async () => {
    const challenge = "a".repeat(32 * 1024);
    const { fetch, url } = await against((_, response) => json(response, {}, { "payment-required": challenge }));
    expect((await fetch(url)).headers["payment-required"]).toBe(challenge);
  });

  it("returns the status of a refusal, with any body", async () => {
    const { fetch, url } = await against((_, response) => response.writeHead(404, { "content-type": "text/html" }).end("<html>"));
    expect(await fetch(url)).toMatchObject({ status: 404, json: undefined });
  });

  it.each([
    ["JSON that is broken", "{"],
    ["text that is not UTF-8", Buffer.from([0x22, 0xff, 0x22])],
  ])("keeps the status of a refusal with %s", async (_, body) => {
    const { fetch, url } = await against((_, response) =>
      response.writeHead(503, { "content-type": "application/json" }).end(body),
    );
    expect(await fetch(url)).toMatchObject({ status: 503, text: "", json: undefined });
  });

  it("reads text only if text was asked for", async () => {
    const { fetch, url } = await against((_, response) => response.writeHead(200, { "content-type": "text/plain" }).end("token"));
    expect((await fetch(url, { expect: "text" })).text).toBe("token");
    expect(await code(fetch(url))).toBe("storefront_invalid");
  });

  it("caches an answer for a minute if the caller wants that, and never a refusal", async () => {
    let status = 500;
    const { fetch, url, asked } = await against((_, response) =>
      response.writeHead(status, { "content-type": "application/json" }).end("{}"),
    );
    await fetch(url, { cached: true });
    status = 200;
    await fetch(url, { cached: true });
    await fetch(url, { cached: true });
    expect(asked).toHaveLength(2);
    await fetch(url);
    expect(asked).toHaveLength(3);
    await new Promise((resolve) => setTimeout(resolve, 220));
    await fetch(url, { cached: true });
    expect(asked).toHaveLength(4);
  });

  it("sends at most four requests at a time to one host, and the others in turn", async () => {
    let open = 0;
    let most = 0;
    const { fetch, url } = await against(
      (_, response) => {
        most = Math.max(most, ++open);
        setTimeout(() => {
          open -= 1;
          json(response, {});
        }, 30);
      },
      { headersMs: 2_000 },
    );
    const replies = await Promise.all(Array.from({ length: 12 }, () => fetch(url)));
    expect([replies.length, most]).toEqual([12, 4]);
  });
});
