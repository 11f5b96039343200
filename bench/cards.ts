import { createHmac, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { connectCards, setCard } from "#lib/cards/contract.ts";
import { startEmbedded } from "#lib/db/embedded.ts";
import { call } from "#lib/http/client.ts";
import { nodeFlags } from "../scripts/node-flags.ts";
import { fill } from "../scripts/upgrade/lock-times.ts";
import { load } from "./load.ts";
import { authorizeBody, CHAIN, setScene, type Scene } from "./scene.ts";
import { start, type BenchServer } from "./server.ts";

/** One round. Rates are a second, times are of the answers to requests of cards. */
type Round = {
  readonly authorizingAlone: number;
  readonly authorizingBeside: number;
  readonly cards: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly errors: number;
};

const ROWS = 1_000_000;
const CONNECTIONS = 64;
/** At a given rate, so many that no request has to wait for the answer to another one. */
const PACED_CONNECTIONS = 256;
const WARM_SECONDS = 8;
/** The service takes 500 events a second from each Stripe account. */
const ACCOUNTS = 8;
const CARD = "ic_bench";

const policy = {
  unit: "USD" as const,
  assets: [
    { asset: "USDC", chain: CHAIN, counts: "1" },
    { asset: "USD", chain: "iso4217:USD", counts: "1" },
  ],
  rails: ["x402" as const, "card" as const],
  cards: {},
};

const run = randomBytes(6).toString("hex");
let serial = 0;

/** The event by which Stripe asks for a cent. */
function requestBody(): string {
  const id = `${run}${serial++}`;
  const merchant = { category: "computer_software_stores", country: "US", name: "Ink and Co", network_id: "4711" };
  const object = {
    id: `iauth_${id}`,
    object: "issuing.authorization",
    approved: false,
    status: "pending",
    amount: 0,
    currency: "usd",
    card: { id: CARD, object: "issuing.card", last4: "4242" },
    merchant_data: merchant,
    pending_request: { amount: 1, currency: "usd", is_amount_controllable: false },
    request_history: [],
    transactions: [],
  };
  const created = Math.floor(Date.now() / 1_000);
  return JSON.stringify({ id: `evt_${id}`, object: "event", type: "issuing_authorization.request", created, data: { object } });
}

function signature(secret: string, body: string): string {
  const time = Math.floor(Date.now() / 1_000);
  return `Stripe-Signature: t=${time},v1=${createHmac("sha256", secret).update(`${time}.${body}`).digest("hex")}\r\n`;
}

type Stage = {
  readonly server: BenchServer;
  readonly scene: Scene;
  readonly mandateId: string;
  readonly accounts: readonly string[];
  readonly secret: string;
};

function authorizing({ server, scene, mandateId }: Stage, seconds: number, perSecond?: number) {
  const targets = scene.keys.map((key) => ({
    port: server.port,
    path: "/api/v1/payments/authorize",
    headers: { Authorization: `Bearer ${key}` },
  }));
  const good = (status: number, body: string) => status === 200 && body.includes('"outcome":"allow"');
  const rate = perSecond === undefined ? { connections: CONNECTIONS } : { connections: PACED_CONNECTIONS, perSecond };
  return load({ targets, ...rate, seconds, body: () => authorizeBody(scene, mandateId), good });
}

function asking({ server, accounts, secret }: Stage, seconds: number) {
  const targets = accounts.map((id) => ({ port: server.port, path: `/api/v1/rails/stripe/${id}`, headers: {} }));
  const good = (status: number, body: string) => status === 200 && body.includes('"approved":true');
  const header = (body: string) => signature(secret, body);
  return load({ targets, connections: CONNECTIONS, seconds, body: requestBody, header, good });
}

async function setStage(server: BenchServer): Promise<Stage> {
  const scene = await setScene(server.url, 4);
  const mandateId = await scene.mandate("1000000", policy);
  const secret = `whsec_${randomBytes(24).toString("hex")}`;
  const accounts: string[] = [];
  const body = { name: "Card", mandateId, serviceAccountId: scene.agents[0]! };
  while (accounts.length < ACCOUNTS) {
    const { connectionId } = await call(connectCards, { body: { name: "Account", webhookSecret: secret } }, scene.buyer);
    await call(setCard, { connectionId, cardId: CARD, body }, scene.buyer);
    accounts.push(connectionId);
  }
  return { server, scene, mandateId, accounts, secret };
}

/** In each round authorizing runs alone, and then at half of that rate while cards ask as fast as they are answered. */
async function measure(stage: Stage, rounds: number, seconds: number): Promise<Round[]> {
  await Promise.all([authorizing(stage, WARM_SECONDS), asking(stage, WARM_SECONDS)]);
  const measured: Round[] = [];
  while (measured.length < rounds) {
    const { perSecond: authorizingAlone, errors: before } = await authorizing(stage, seconds);
    const [beside, cards] = await Promise.all([authorizing(stage, seconds, authorizingAlone / 2), asking(stage, seconds)]);
    const { perSecond, p50Ms, p99Ms } = cards;
    const errors = before + beside.errors + cards.errors;
    measured.push({ authorizingAlone, authorizingBeside: beside.perSecond, cards: perSecond, p50Ms, p99Ms, errors });
  }
  return measured;
}

/** `npm run bench -- --cards`: measures the answers to requests of cards under the mandate under which others authorize. */
export async function measureCards({ rounds, seconds }: { readonly rounds: number; readonly seconds: number }): Promise<Round[]> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const database = await startEmbedded({ dataDir: folder });
  const environment = { DATABASE_URL: database.url, DATA_DIR: folder, ENVIRONMENT: "sandbox" };
  const server = await start([...nodeFlags, "server.ts", "--api"], environment, "/api/v1/health/live");
  try {
    const stage = await setStage(server);
    await authorizing(stage, 1);
    console.error("bench: a million authorizations.");
    const sql = postgres(database.url, { max: 1, onnotice: () => {} });
    await fill(sql, "authorizations", ROWS);
    await sql.end();
    return await measure(stage, rounds, seconds);
  } finally {
    await server.stop();
    await database.stop();
    // PostgreSQL keeps its data outside of `folder` if the account that runs it cannot reach `folder`, so remove both directories.
    for (const made of [database.directory, folder]) await rm(made, { recursive: true, force: true });
  }
}
