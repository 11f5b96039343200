import type { LookupAddress } from "node:dns";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSocketServer, type AddressInfo, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import type { Problem } from "#lib/problem.ts";
import { createGuardedFetch, standardLimits, type Guard } from "#lib/storefront/guarded-fetch.ts";

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<{ port: number; asked: IncomingMessage[] }> {
  const asked: IncomingMessage[] = [];
  const server = createServer({ maxHeaderSize: 128 * 1024 }, (request, response) => {
    asked.push(request);
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, asked };
}

const json = (response: ServerResponse, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

const short = { ...standardLimits, connectMs: 300, headersMs: 300, bodyMs: 300, bodyBytes: 4_096, cacheMs: 200 };

type Names = Readonly<Record<string, readonly (readonly string[])[]>>;

/** A DNS of our own: each look-up of a name takes the next of its answers, the last one for ever. */
function stubbed(names: Names) {
  const lookups: string[] = [];
  const resolve = (hostname: string): Promise<LookupAddress[]> => {
    const answers = names[hostname] ?? [];
    const answer = answers[Math.min(lookups.filter((name) => name === hostname).length, answers.length - 1)] ?? [];
    lookups.push(hostname);
    return Promise.resolve(answer.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })));
  };
  return { resolve, lookups };
}

type More = { ports?: readonly number[]; names?: Names; own?: readonly string[]; limits?: Partial<Guard["limits"]> };

function guarded({ ports = [], names = {}, own = [], limits = {} }: More = {}) {
  const dns = stubbed({ localhost: [["127.0.0.1"]], ...names });
  const hosts = ["127.0.0.1", ...Object.keys(names).filter((name) => name.endsWith(".sandbox"))];
  const loopback = ports.flatMap((port) => hosts.map((host) => `${host}:${port}`));
  const fetch = createGuardedFetch({
    rules: () => ({ loopback, own }),
    resolve: dns.resolve,
    limits: { ...short, ...limits },
  });
  return { fetch, lookups: dns.lookups };
}

const refusal = async (work: Promise<unknown>): Promise<Problem> => {
  try {
    await work;
  } catch (error) {
    return error as Problem;
  }
  throw new Error("This was let through.");
};
const code = async (work: Promise<unknown>): Promise<string> => (await refusal(work)).code;

describe("guardedFetch and where it goes", () => {
  it.each(["2130706433", "0x7f.1", "0177.0.0.1", "127.1", "0", "[::ffff:127.0.0.1]", "①②⑦.⓪.⓪.①", "localhost", "[::1]"])(
    "never reaches this machine as %s",
    async (host) => {
      const { port, asked } = await serve((_, response) => json(response, {}));
      const { fetch } = guarded();
      for (const scheme of ["http", "https"])
        expect(await code(fetch(`${scheme}://${host}:${port}/`))).toBe("storefront_invalid");
      expect(await code(fetch(`https://${host}/`))).toMatch(/^storefront_/);
      expect(asked).toEqual([]);
    },
  );

  it("reaches what the sandbox lists, by http and by its other name", async () => {
    const { port } = await serve((_, response) => json(response, { here: true }));
    const { fetch } = guarded({ ports: [port] });
    expect((await fetch(`http://127.0.0.1:${port}/`)).json).toEqual({ here: true });
    expect((await fetch(`http://localhost:${port}/`)).json).toEqual({ here: true });
  });

  it.each([
    ["a name that leads inside", [["127.0.0.1"]]],
    ["a name that leads to the metadata of a cloud", [["169.254.169.254"]]],
    ["a name with one bad address among good ones", [["93.184.216.34", "10.0.0.1"]]],
    ["a name that leads inside by IPv6", [["::1"]]],
    ["a name that leads inside by a mapped address", [["::ffff:127.0.0.1"]]],
    ["a name that does not exist", [[]]],
  ])("refuses %s, always with the same words", async (_, answers) => {
    const { fetch, lookups } = guarded({ names: { "shop.example.com": answers } });
    const problem = await refusal(fetch("https://shop.example.com/"));
    expect(problem.code).toBe("storefront_unavailable");
    expect(problem.details.detail).toBe("shop.example.com does not lead to a public host.");
    expect(JSON.stringify(problem.details)).not.toMatch(/127|169|10\.0|::1/);
    expect(lookups).toHaveLength(1);
  });

  it("connects to the address that it checked, not to what the name says a moment later", async () => {
    const { port, asked } = await serve((_, response) => json(response, {}));
    const names = { "rebinding.sandbox": [["127.0.0.1"], ["10.0.0.1"]] };
    const { fetch, lookups } = guarded({ ports: [port], names });
    expect((await fetch(`http://rebinding.sandbox:${port}/`)).status).toBe(200);
    expect(asked[0]?.headers.host).toBe(`rebinding.sandbox:${port}`);
    expect(lookups).toEqual(["rebinding.sandbox"]);
    expect(await code(fetch(`http://rebinding.sandbox:${port}/`))).toBe("storefront_unavailable");
    expect(asked).toHaveLength(1);
  });

  it("says the name, not the address, when TLS begins", async () => {
    let hello = "";
    const server = createSocketServer((socket: Socket) => {
      socket.on("error", () => {});
      socket.once("data", (bytes) => {
        hello = bytes.toString("latin1");
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    const { fetch } = guarded({ ports: [port], names: { "tls.sandbox": [["127.0.0.1"]] } });
    expect(await code(fetch(`https://tls.sandbox:${port}/`))).toBe("storefront_unavailable");
    expect(hello).toContain("tls.sandbox");
  });

  it("refuses our own public host", async () => {
    const { port, asked } = await serve((_, response) => json(response, {}));
    const { fetch } = guarded({ ports: [port], own: [`http://127.0.0.1:${port}`] });
    expect(await code(fetch(`http://127.0.0.1:${port}/`))).toBe("storefront_invalid");
    expect(asked).toEqual([]);
  });

  it("gives up on a name that takes too long", async () => {
    const fetch = createGuardedFetch({
      rules: () => ({ loopback: [], own: [] }),
      resolve: () => new Promise(() => {}),
      limits: { ...short, connectMs: 50 },
    });
    expect(await code(fetch("https://shop.example.com/"))).toBe("storefront_unavailable");
  });
});

describe("guardedFetch and redirects", () => {
  const redirecting = async (to: (port: number) => string, status = 302) => {
    const server = await serve((request, response) =>
      request.url === "/end"
        ? json(response, { end: true })
        : response.writeHead(status, { location: to(Number(request.headers.host?.split(":")[1])) }).end(),
    );
    return { ...server, fetch: guarded({ ports: [server.port] }).fetch };
  };

  it("follows one", async () => {
    const { port, fetch } = await redirecting(() => "/end");
    const { json, url } = await fetch(`http://127.0.0.1:${port}/`);
    expect([json, url]).toEqual([{ end: true }, `http://127.0.0.1:${port}/end`]);
  });

  it("follows two and no more", async () => {
    const { port, fetch, asked } = await redirecting(() => "/again");
    expect(await code(fetch(`http://127.0.0.1:${port}/`))).toBe("storefront_invalid");
    expect(asked).toHaveLength(3);
  });

  it.each([
    ["inward", "http://127.0.0.1:1/"],
    ["to a cloud's metadata", "http://169.254.169.254/latest/meta-data/"],
    ["to a decimal address", "https://2130706433/"],
    ["to a file", "file:///etc/passwd"],
    ["nowhere", "http://"],
  ])("does not follow one that leads %s", async (_, location) => {
    const canary = await serve((_, response) => json(response, {}));
    const { port, fetch } = await redirecting(() => location.replace(":1/", `:${canary.port}/`));
    expect(await code(fetch(`http://127.0.0.1:${port}/`))).toBe("storefront_invalid");
    expect(canary.asked).toEqual([]);
  });

  it.each([301, 302, 303, 307, 308])("never follows one of a POST: %i", async (status) => {
    const { port, fetch, asked } = await redirecting(() => "/end", status);
    expect(await code(fetch(`http://127.0.0.1:${port}/`, { method: "POST", json: {} }))).toBe("storefront_invalid");
    expect(asked).toHaveLength(1);
  });
});

describe("guardedFetch and what comes back", () => {
  const against = async (listener: RequestListener, limits: Partial<Guard["limits"]> = {}) => {
    const { port, asked } = await serve(listener);
    const { fetch } = guarded({ ports: [port], limits });
    return { fetch: fetch, url: `http://127.0.0.1:${port}/`, asked };
  };

  it("asks plainly: no cookies, no credentials, no compression", async () => {
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

  it("gives up on headers that do not come", async () => {
    const { fetch, url } = await against(() => {});
    expect(await code(fetch(url))).toBe("storefront_unavailable");
  });

  it("gives up on a drip, however steady", async () => {
    const { fetch, url } = await against((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const timer = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(timer));
    });
    const started = performance.now();
    expect(await code(fetch(url))).toBe("storefront_invalid");
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  it("gives up on headers that drip", async () => {
    const { fetch, url } = await against((request) => {
      request.socket.write("HTTP/1.1 200 OK\r\n");
      const timer = setInterval(() => request.socket.write("a: b\r\n"), 20);
      request.socket.on("close", () => clearInterval(timer));
    });
    expect(await code(fetch(url))).toBe("storefront_unavailable");
  });

  it("takes headers of 32 KiB", async () => {
    const challenge = "a".repeat(32 * 1024);
    const { fetch, url } = await against((_, response) => json(response, {}, { "payment-required": challenge }));
    expect((await fetch(url)).headers["payment-required"]).toBe(challenge);
  });

  it("lets a refusal speak by its status, whatever its body", async () => {
    const { fetch, url } = await against((_, response) => response.writeHead(404, { "content-type": "text/html" }).end("<html>"));
    expect(await fetch(url)).toMatchObject({ status: 404, json: undefined });
  });

  it("reads text where text is asked for, and only there", async () => {
    const { fetch, url } = await against((_, response) => response.writeHead(200, { "content-type": "text/plain" }).end("token"));
    expect((await fetch(url, { expect: "text" })).text).toBe("token");
    expect(await code(fetch(url))).toBe("storefront_invalid");
  });

  it("keeps an answer for its minute where that is asked for, and a refusal never", async () => {
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

  it("sends four at a time to one host, the rest in turn", async () => {
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

describe("guardedFetch.once", () => {
  it("tells whether the request may have arrived", async () => {
    const { port } = await serve((request) => request.socket.destroy());
    const { fetch } = guarded({ ports: [port, 1] });
    const asked = { method: "POST", json: {}, paymentSignature: "abc" } as const;
    expect(await fetch.once(`http://127.0.0.1:${port}/`, asked)).toEqual({ sent: true, reply: null });
    expect(await code(fetch.once("http://127.0.0.1:1/", asked))).toBe("storefront_unavailable");
  });

  it("hands on the credential and whatever comes back, without following", async () => {
    const { port, asked } = await serve((_, response) => response.writeHead(302, { location: "/x" }).end("<html>"));
    const { fetch } = guarded({ ports: [port] });
    const sent = await fetch.once(`http://127.0.0.1:${port}/`, { method: "POST", json: {}, paymentSignature: "abc" });
    expect([sent.sent, sent.reply?.status, asked.length]).toEqual([true, 302, 1]);
    expect(asked[0]?.headers["payment-signature"]).toBe("abc");
  });

  it("refuses a credential that would break out of its header", async () => {
    const { fetch } = guarded({ ports: [1] });
    await expect(fetch.once("http://127.0.0.1:1/", { paymentSignature: "a\r\nhost: evil" })).rejects.toThrow(TypeError);
  });
});
