import { createServer as createSocketServer, type AddressInfo, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { createGuardedFetch } from "#lib/outbound/guarded-fetch.ts";
import { closers, code, guarded, json, refusal, serve, short } from "#test/guarded.ts";

describe("guardedFetch and addresses", () => {
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

  it("reaches the hosts of this machine that the sandbox lists, by http and by their other name", async () => {
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
  ])("refuses %s, always with the same message", async (_, answers) => {
    const { fetch, lookups } = guarded({ names: { "shop.example.com": answers } });
    const problem = await refusal(fetch("https://shop.example.com/"));
    expect(problem.code).toBe("storefront_unavailable");
    expect(problem.details.detail).toBe("shop.example.com does not lead to a public host.");
    expect(JSON.stringify(problem.details)).not.toMatch(/127|169|10\.0|::1/);
    expect(lookups).toHaveLength(1);
  });

  it("connects to the address that it checked, not to a later answer for the name", async () => {
    const { port, asked } = await serve((_, response) => json(response, {}));
    const names = { "rebinding.sandbox": [["127.0.0.1"], ["10.0.0.1"]] };
    const { fetch, lookups } = guarded({ ports: [port], names });
    expect((await fetch(`http://rebinding.sandbox:${port}/`)).status).toBe(200);
    expect(asked[0]?.headers.host).toBe(`rebinding.sandbox:${port}`);
    expect(lookups).toEqual(["rebinding.sandbox"]);
    expect(await code(fetch(`http://rebinding.sandbox:${port}/`))).toBe("storefront_unavailable");
    expect(asked).toHaveLength(1);
  });

  it("sends the name, not the address, when TLS begins", async () => {
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

  it("refuses the service's own public host", async () => {
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

  it("follows one redirect", async () => {
    const { port, fetch } = await redirecting(() => "/end");
    const { json, url } = await fetch(`http://127.0.0.1:${port}/`);
    expect([json, url]).toEqual([{ end: true }, `http://127.0.0.1:${port}/end`]);
  });

  it("follows two redirects and no more", async () => {
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
  ])("does not follow a redirect to %s", async (_, location) => {
    const canary = await serve((_, response) => json(response, {}));
    const { port, fetch } = await redirecting(() => location.replace(":1/", `:${canary.port}/`));
    expect(await code(fetch(`http://127.0.0.1:${port}/`))).toBe("storefront_invalid");
    expect(canary.asked).toEqual([]);
  });

  it.each([301, 302, 303, 307, 308])("never follows a redirect of a POST: %i", async (status) => {
    const { port, fetch, asked } = await redirecting(() => "/end", status);
    expect(await code(fetch(`http://127.0.0.1:${port}/`, { method: "POST", json: {} }))).toBe("storefront_invalid");
    expect(asked).toHaveLength(1);
  });
});

describe("guardedFetch.once", () => {
  it("returns null if the request may have reached the host, and throws if it cannot have", async () => {
    const { port } = await serve((request) => request.socket.destroy());
    const { fetch } = guarded({ ports: [port, 1] });
    const asked = { method: "POST", json: {}, paymentSignature: "abc" } as const;
    expect(await fetch.once(`http://127.0.0.1:${port}/`, asked)).toBeNull();
    expect(await code(fetch.once("http://127.0.0.1:1/", asked))).toBe("storefront_unavailable");
  });

  it("sends the credential and returns any answer, without following redirects", async () => {
    const { port, asked } = await serve((_, response) => response.writeHead(302, { location: "/x" }).end("<html>"));
    const { fetch } = guarded({ ports: [port] });
    const reply = await fetch.once(`http://127.0.0.1:${port}/`, { method: "POST", json: {}, paymentSignature: "abc" });
    expect([reply?.status, asked.length]).toEqual([302, 1]);
    expect(asked[0]?.headers["payment-signature"]).toBe("abc");
  });

  it("refuses a credential that contains line breaks", async () => {
    const { fetch } = guarded({ ports: [1] });
    await expect(fetch.once("http://127.0.0.1:1/", { paymentSignature: "a\r\nhost: evil" })).rejects.toThrow(TypeError);
  });
});
