import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect } from "vitest";
import { database } from "#lib/db/client.ts";
import type { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { startServer, type RunningServer } from "#test/server.ts";
import type { Credential } from "#test/tenant.ts";

const ATTEMPTS_MAX = 1_000;

/** A request, a read if it has no body. `as` returns what authenticates one attempt. */
export type Sent = { readonly path: string; readonly body?: unknown; readonly as: (body: string) => Credential };
type Reply = { readonly status: number; readonly text: string };

async function send({ url }: RunningServer, { path, body, as }: Sent): Promise<Reply> {
  const text = JSON.stringify(body) as string | undefined;
  const headers = { "content-type": "application/json", ...as(text ?? "") };
  const reply = await fetch(`${url}/api/v1${path}`, { headers, ...(text !== undefined && { method: "POST", body: text }) });
  return { status: reply.status, text: await reply.text() };
}

/** Another request with this key may still run, or a server may be overloaded. A card's request is then declined and not decided. */
const isLater = ({ status, text }: Reply): boolean =>
  [409, 503].includes(status) || /"reason":"(too_late|overloaded|service_unavailable)"/.test(text);

/** The sessions that wait for a lock and are younger than `since`. */
const waitingSince = (since: string) =>
  database().execute(sql`SELECT FROM pg_locks JOIN pg_stat_activity a USING (pid)
    WHERE NOT granted AND a.datname = current_database() AND a.backend_start > ${since}::timestamptz`);

/** Starts two servers on one database. Call this after what configures them. */
export function useTwoServers(databaseOf: ReturnType<typeof useDatabase>) {
  const servers: RunningServer[] = [];
  const start = () => startServer({ RATE_LIMIT_PER_KEY: "1000000", SETTLEMENT_DAILY_CAP: "1000000" });
  beforeAll(async () => {
    servers.push(await start(), await start());
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));
  let cut = 0;

  /** Sends a request until a server has answered it. */
  async function untilAnswered(sent: Sent, serverAt: (turn: number) => number): Promise<string> {
    for (let turn = 0; turn < ATTEMPTS_MAX; turn += 1) {
      const reply = await send(servers[serverAt(turn)]!, sent).catch(() => null);
      if (reply === null) cut += 1;
      else if (!isLater(reply)) {
        if (reply.status !== 200) throw new Error(`${sent.path} got ${reply.status}: ${reply.text}`);
        return reply.text;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`Nobody has answered ${sent.path}.`);
  }

  /** Half of the connections ask both servers in turn, the others wait for their own. */
  const asked = (sent: Sent, at: number) => untilAnswered(sent, (turn) => (at % 4 > 1 ? at : at + turn) % 2);

  /**
   * Sends all requests at once. While transactions wait for a lock that the test holds, one server is killed and started again; the
   * lock is released when the new one waits for it too. Returns the answers.
   */
  async function race(requests: readonly Sent[], killed: 0 | 1, lock: string): Promise<readonly string[]> {
    const before = cut;
    const locks = await hold(databaseOf().url, lock);
    const racing = Promise.all(requests.map(asked));
    await locks.blocks();
    await servers[killed]!.kill();
    const [now] = await database().execute<{ at: string }>(sql`SELECT clock_timestamp()::text AS at`);
    servers[killed] = await start();
    await expect.poll(() => waitingSince(now!.at)).not.toHaveLength(0);
    await locks.release();
    const answers = await racing;
    expect(cut).toBeGreaterThan(before);
    // Both servers repeat the same bytes, whoever gave the first answer.
    for (const server of [0, 1]) {
      const repeated = await Promise.all(requests.map((sent) => untilAnswered(sent, () => server)));
      expect(repeated).toEqual(answers);
    }
    return answers;
  }

  async function read<T>(path: string, as: Credential, server = 0): Promise<T> {
    const { status, text } = await send(servers[server % 2]!, { path, as: () => as });
    expect(status, text).toBe(200);
    return JSON.parse(text) as T;
  }

  return { race, read };
}
