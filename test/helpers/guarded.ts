import type { LookupAddress } from "node:dns";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";
import type { Problem } from "#lib/problem.ts";
import { createGuardedFetch, standardLimits, type Guard } from "#lib/outbound/guarded-fetch.ts";

/* The HTTP client for addresses that callers name, with short limits and a fake DNS, against real servers on this machine. */

/** Close functions of the servers of a test; called after the test. */
export const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

export async function serve(listener: RequestListener): Promise<{ port: number; asked: IncomingMessage[] }> {
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

export const json = (response: ServerResponse, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

export const short = { ...standardLimits, connectMs: 1_500, headersMs: 1_500, bodyMs: 1_500, bodyBytes: 4_096, cacheMs: 200 };

type Names = Readonly<Record<string, readonly (readonly string[])[]>>;

/** A fake DNS. Each look-up of a name returns its next answer; the last answer repeats. */
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

export function guarded({ ports = [], names = {}, own = [], limits = {} }: More = {}) {
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

export const refusal = async (work: Promise<unknown>): Promise<Problem> => {
  try {
    await work;
  } catch (error) {
    return error as Problem;
  }
  throw new Error("This was let through.");
};
export const code = async (work: Promise<unknown>): Promise<string> => (await refusal(work)).code;
