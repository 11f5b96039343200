import { Agent, request } from "node:http";
import { createConnection } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newIntent } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, assets, createBuyer, type Buyer } from "#test/mandates.ts";
import { startServer, type RunningServer } from "#test/server.ts";

useDatabase();

const CONNECTIONS = 64;
const CHECK_MS = 100;

let buyer: Buyer;
let mandateId: string;
const servers: RunningServer[] = [];

beforeAll(async () => {
  buyer = await createBuyer();
  mandateId = await activeMandate(buyer.person.credential, { policy: { assets, limits: { perPayment: "1", total: "1000000" } } });
  const variables = { SHUTDOWN_DELAY_MS: "5000" };
  servers.push(...(await Promise.all([startServer(variables), startServer(variables)])));
});
afterAll(() => Promise.all(servers.map((server) => server.kill())));

const isReady = async ({ url }: RunningServer): Promise<boolean> => {
  const reply = await fetch(`${url}/api/v1/health/ready`).catch(() => null);
  return reply?.status === 200;
};

/** Sends one authorize request on a keep-alive connection. */
function authorize(agent: Agent, { url }: RunningServer): Promise<number> {
  const body = JSON.stringify({ mandateId, intent: newIntent(buyer, { amount: "0.01" }) });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body), ...buyer.agent.credential };
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}/api/v1/payments/authorize`, { agent, method: "POST", headers }, (reply) => {
      reply.resume();
      reply.once("end", () => resolve(reply.statusCode ?? 0));
    });
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}

describe("SIGTERM behind a load balancer", () => {
  test(`fails no request on ${CONNECTIONS} keep-alive connections`, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const inTurn = new Set(servers);
    const end = new AbortController();
    let sent = 0;
    const statuses = new Map<number, number>();
    const client = async (): Promise<void> => {
      while (!end.signal.aborted) {
        const choice = [...inTurn];
        const status = await authorize(agent, choice[sent++ % choice.length]!);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        await pause(CHECK_MS);
      }
    };
    // Asks a server again and again whether it is ready, as a load balancer does.
    const watch = async (server: RunningServer): Promise<void> => {
      while (!end.signal.aborted) {
        if (await isReady(server)) inTurn.add(server);
        else inTurn.delete(server);
        await pause(CHECK_MS);
      }
    };
    const clients = Promise.all([...Array.from({ length: CONNECTIONS }, client), ...servers.map(watch)]);
    await pause(500);
    await servers[0]!.stop();
    await pause(500);
    end.abort();
    await clients;
    expect([...statuses.keys()]).toEqual([200]);
    expect(servers[0]!.child.exitCode).toBe(0);
    expect(inTurn).toEqual(new Set([servers[1]!]));
    agent.destroy();
  });

  test.each(["GET", "HEAD"])("a check by %s with HTTP/1.0 and no Host is answered", async (method) => {
    const { port } = new URL(servers[1]!.url);
    const socket = createConnection(Number(port), "localhost");
    socket.write(`${method} /api/v1/health/ready HTTP/1.0\r\n\r\n`);
    let answer = "";
    for await (const chunk of socket) answer += String(chunk);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
  });
});
