import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import postgres from "postgres";
import type { Operation } from "#lib/http/operation.ts";
import { operations } from "#lib/operations/operations.ts";
import { OF_A_CONNECTION, type Exchange } from "../load/balancer.ts";
import { apart, type Answer } from "./apart.ts";
import { playScene } from "./scene.ts";
import { Installation, type Order, type Process } from "./side-by-side.ts";

const run = promisify(execFile);

/** Tables without rows after the scene, with what would make them. */
const empty: Readonly<Record<string, string>> = {
  audit_alarms: "a log that somebody has changed",
  card_authorizations: "a payment by card, which 0.2.0 does not know",
  card_connections: "a payment by card, which 0.2.0 does not know",
  card_parts: "a payment by card, which 0.2.0 does not know",
  card_transactions: "a payment by card, which 0.2.0 does not know",
  cards: "a payment by card, which 0.2.0 does not know",
  fees: "a seller with a plan that is not free",
  key_uses: "a minute, or the end of the process",
  mcp_purchases: "a program that is connected by OAuth",
  oauth_access_token: "a program that is connected by OAuth",
  oauth_refresh_token: "a program that is connected by OAuth",
  oauth_resource: "a program that is connected by OAuth",
  passkey: "an authenticator",
  passkey_challenges: "an authenticator",
  payment_records: "a payment that is made elsewhere, which 0.2.0 does not know",
  plain_settlements: "a seller without registered resources",
  process_commits: "five seconds without a payment",
  pushes: "an event of which a person wants to be told at once",
  recorded_payments: "a payment that is made elsewhere, which 0.2.0 does not know",
  verification: "a link in a mail",
  waivers: "a seller with a domain on the internet",
  wallet_address: "a sign-in with a wallet",
};

/** Operations whose answers depend on the time of the request, on the process, or on the release. */
const unlike: Readonly<Record<string, string>> = {
  checkLiveness: "the process",
  checkReadinessOfPages: "the process",
  checkReadinessOfService: "the process",
  listCardConnections: "the release, because 0.2.0 does not know it",
  prepareRegistration: "the time",
};

/** The query of a read that needs one. */
const queries: Readonly<Record<string, string>> = { searchOrganization: "?q=report" };

/** Which rows a parameter of a path names, by the beginning of the path if several tables have an `id`. */
const named: readonly (readonly [path: RegExp, table: string, column: string])[] = [
  [/\{authorizationId\}/, "authorizations", "authorization_id"],
  [/\{executionId\}/, "executions", "execution_id"],
  [/\{approvalId\}/, "checkout_approvals", "approval_id"],
  [/\{checkoutIntentId\}/, "checkout_intents", "checkout_intent_id"],
  [/mandates\/\{id\}/, "mandates", "mandate_id"],
  [/seller\/resources\/\{id\}/, "resources", "resource_id"],
  [/sellers\/\{id\}/, "sellers", "seller_id"],
  [/webhooks\/\{id\}/, "webhook_endpoints", "webhook_endpoint_id"],
];

/** Sets in answers to which a release may add: what a person may do. */
const grows: Readonly<Record<string, string>> = { getSession: "capabilities" };

type Asked = Pick<Exchange, "method" | "path" | "headers" | "body">;

async function ask({ url }: Process, { method, path, headers, body }: Asked): Promise<Answer & { readonly replayed: boolean }> {
  const kept = Object.entries(headers).filter(([name]) => !OF_A_CONNECTION.has(name));
  const init = { method, headers: Object.fromEntries(kept) as Record<string, string>, ...(method !== "GET" && { body }) };
  const reply = await fetch(url + path, init as RequestInit);
  return { status: reply.status, text: await reply.text(), replayed: reply.headers.get("idempotent-replayed") === "true" };
}

/** Asks both releases until they answer alike, because workers may change a row between the two requests. */
async function compare(old: Process, next: Process, asked: Asked, set?: string): Promise<string | null> {
  let found: string | null = null;
  for (let tries = 0; tries < 3; tries += 1) {
    found = apart(await ask(old, asked), await ask(next, asked), set);
    if (found === null) return null;
  }
  return `${asked.method} ${asked.path}: ${old.version} and ${next.version} answer\n  ${found}`;
}

async function pathsOf(sql: postgres.Sql, path: string): Promise<string[]> {
  if (!path.includes("{")) return [path];
  const [, table, column] = named.find(([pattern]) => pattern.test(path)) ?? assert.fail(`No rows are known for ${path}.`);
  const rows = await sql<{ id: string }[]>`SELECT ${sql(column)} AS id FROM ${sql(table)}`;
  return rows.map(({ id }) => path.replace(/\{\w+\}/, encodeURIComponent(id)));
}

async function emptyTables(sql: postgres.Sql): Promise<string[]> {
  const tables = await sql<{ name: string }[]>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`;
  const found: string[] = [];
  for (const { name } of tables) if ((await sql`SELECT FROM ${sql(name)} LIMIT 1`).length === 0) found.push(name);
  return found;
}

const isRead = ({ id, method }: Operation): boolean => method === "GET" && !(id in unlike);

type Callers = readonly Readonly<Record<string, string>>[];

/** Reads everything as every caller. Returns the number of answers, what differs, and what nobody could read. */
async function compareReads(sql: postgres.Sql, [old, next]: readonly [Process, Process], callers: Callers) {
  const wrong: string[] = [];
  let count = 0;
  for (const { id, path } of operations.filter(isRead)) {
    let found = false;
    for (const one of await pathsOf(sql, path))
      for (const headers of callers) {
        const asked = { method: "GET", path: one + (queries[id] ?? ""), headers: { ...headers }, body: Buffer.alloc(0) };
        found ||= (await ask(old, asked)).status === 200;
        const difference = await compare(old, next, asked, grows[id]);
        if (difference !== null) wrong.push(difference);
        count += 1;
      }
    if (!found) wrong.push(`${id} was not read.`);
  }
  return { count, wrong };
}

/** Repeats the commands that the old release answers with what it has stored. */
async function compareRepeats(commands: readonly Exchange[], [old, next]: readonly [Process, Process]) {
  const wrong: string[] = [];
  let count = 0;
  for (const command of commands) {
    if (command.method === "GET" || !command.path.startsWith("/api/v1/") || command.reply.status >= 300) continue;
    if (!(await ask(old, command)).replayed) continue;
    count += 1;
    const difference = await compare(old, next, command);
    if (difference !== null) wrong.push(difference);
  }
  return { count, wrong };
}

/** The old release makes rows of every kind, and the next one answers every read and every repeat as the old one does. */
export async function compareRows(order: Order): Promise<void> {
  const { old, next, say } = order;
  say(`The pages of ${old.version} are being built, on which people approve payments.`);
  await run(process.execPath, ["scripts/build.ts"], { cwd: old.folder });
  // The stage of the demo keeps the key of its agent there.
  process.env["DATA_DIR"] = join(order.folder, "demo");
  const on = await Installation.open(order);
  const { buyer, sellerOwner, apiKey } = await playScene(on, order);
  const commands = on.balancer.recorded ?? [];
  on.balancer.recorded = null;
  const both = [on.processOf(old.version), await on.start(next)] as const;
  const repeats = await compareRepeats(commands, both);
  const sql = postgres(order.databaseUrl, { max: 1, onnotice: () => {} });
  const key = { authorization: `Bearer ${apiKey}` };
  const reads = await compareReads(sql, both, [buyer.options.headers ?? {}, sellerOwner.options.headers ?? {}, key]);
  const without = (await emptyTables(sql)).filter((name) => !(name in empty)).map((name) => `${name} has no rows.`);
  await sql.end();
  const wrong = [...repeats.wrong, ...reads.wrong, ...without];
  if (wrong.length > 0) throw new Error([`${wrong.length} differences:`, ...wrong].join("\n"));
  say(`${next.version} gave the same ${reads.count} answers to reads and ${repeats.count} to repeats as ${old.version}.`);
  await on.close();
}
