import { globSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { startEmbedded } from "#lib/db/embedded.ts";
import { call } from "#lib/http/client.ts";
import { activateMandate, createMandate } from "#lib/mandates/contract.ts";
import { registerSeller, upsertPaidResource } from "#lib/sellers/contract.ts";
import type { PageWeight } from "#test/page-weight.ts";
import { nodeFlags } from "../scripts/node-flags.ts";
import { weighAll } from "./pages.ts";
import { authorizeBody, CHAIN, payTo, setScene, type Scene } from "./scene.ts";
import { start } from "./server.ts";

/**
 * The scripts and the layout shift of one page. `page` is the path of its file, with the names of its parameters. `holds`:
 * whether both values are under their limits.
 */
export type EveryPage = PageWeight & { readonly page: string; readonly limitKb: number; readonly holds: boolean };

const CONFIRMATION = "/checkout/[checkoutIntentId]";
const SHIFT_MAX = 0.05;

const limitOf = (page: string): number => (page === CONFIRMATION ? 120 : 200);

type Reply = {
  readonly authorizationId: string;
  readonly policyDecision: { readonly reasons: readonly { checkoutIntentId?: string }[] };
};

async function authorize(url: string, scene: Scene, mandateId: string): Promise<Reply> {
  const headers = { Authorization: `Bearer ${scene.keys[0]}`, "content-type": "application/json" };
  const body = authorizeBody(scene, mandateId);
  return (await (await fetch(`${url}/api/v1/payments/authorize`, { method: "POST", headers, body })).json()) as Reply;
}

/** Makes an active mandate that asks a person about every payment, and returns its id. */
async function askingMandate(url: string, { person }: Scene): Promise<string> {
  const as = { baseUrl: url, headers: person };
  const limits = { perPayment: "1", budgets: [{ period: "day" as const, timezone: "UTC", amount: "5" }] };
  const policy = { assets: [{ asset: "USDC", chain: CHAIN }], limits, approval: { mode: "always" as const } };
  const { mandateId } = await call(createMandate, { body: { name: "Asks", policy } }, as);
  await call(activateMandate, { id: mandateId }, as);
  return mandateId;
}

async function openShop(url: string, { person }: Scene): Promise<string> {
  const as = { baseUrl: url, headers: person };
  const { sellerId } = await call(registerSeller, { body: { name: "Own data", domain: "own-data.example.com" } }, as);
  const body = {
    sellerId,
    method: "GET" as const,
    pathTemplate: "/reports/{day}",
    pricing: { type: "fixed" as const, amount: "0.01", asset: "USDC" },
    acceptedPaymentChallengeTypes: ["x402" as const],
    paymentConfig: { chain: CHAIN, payTo },
  };
  await call(upsertPaidResource, { id: "report", body }, as);
  return sellerId;
}

/**
 * Creates records and returns their ids, as values for the parameters in the paths of pages. Gives the person the role of a
 * platform admin and their organization both product roles, so that they may open every page.
 */
async function parametersOf(
  url: string,
  databaseUrl: string,
  scene: Scene,
): Promise<Readonly<Record<string, string | undefined>>> {
  const mandateId = await scene.mandate("100");
  const { authorizationId } = await authorize(url, scene, mandateId);
  const asked = await authorize(url, scene, await askingMandate(url, scene));
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  const [row] = await sql`
    SELECT a.organization_id, a.service_account_id, m.user_id FROM service_accounts a JOIN member m USING (organization_id)
    ORDER BY a.service_account_id LIMIT 1`;
  await sql`UPDATE "user" SET platform_roles = ARRAY['user', 'admin'] WHERE id = ${row!["user_id"] as string}`;
  await sql`UPDATE organization SET product_roles = ARRAY['buyer', 'seller'] WHERE id = ${row!["organization_id"] as string}`;
  await sql.end({ timeout: 5 });
  return {
    mandateId,
    authorizationId,
    checkoutIntentId: asked.policyDecision.reasons.find(({ checkoutIntentId }) => checkoutIntentId)?.checkoutIntentId,
    sellerId: await openShop(url, scene),
    resourceId: "report",
    serviceAccountId: row!["service_account_id"] as string,
    userId: row!["user_id"] as string,
    operationId: "authorizePayment",
    section: "payments",
    sequence: "1",
  };
}

const withoutSession = (file: string): boolean => file.includes("(auth)") || file === "app/page.tsx";
const pageOf = (file: string): string => file.replaceAll(/^app|\/\([^)]+\)(?=\/)|\/page\.tsx$|^app\/page\.tsx$/g, "") || "/";

/** Measures the scripts and the layout shift of every page with data, on a phone and on a wide screen. */
async function measure(url: string, databaseUrl: string): Promise<EveryPage[]> {
  const scene = await setScene(url, 1);
  const values = await parametersOf(url, databaseUrl, scene);
  const measured: EveryPage[] = [];
  for (const [files, cookie] of [
    [globSync("app/**/page.tsx").filter((file) => !withoutSession(file)), scene.person["cookie"] ?? ""],
    [globSync("app/**/page.tsx").filter(withoutSession), ""],
  ] as const) {
    const pages = files.map(pageOf).filter((page) => [...page.matchAll(/\[(\w+)\]/g)].every(([, name]) => values[name ?? ""]));
    const paths = pages.map((page) => page.replaceAll(/\[(\w+)\]/g, (_, name: string) => values[name] ?? ""));
    const weights = await weighAll(url, paths, cookie);
    for (const [at, page] of pages.entries()) {
      const { scriptKb, shift } = weights[at]!;
      const limitKb = limitOf(page);
      measured.push({ page, scriptKb, shift, limitKb, holds: scriptKb < limitKb && shift < SHIFT_MAX });
    }
  }
  return measured;
}

/**
 * `npm run bench -- --pages`. Pages of invitations and of webhook endpoints are not measured, because no invitation and no
 * endpoint is made for them.
 */
export async function measureEveryPage(): Promise<readonly EveryPage[]> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const database = await startEmbedded({ dataDir: folder });
  const environment = { DATABASE_URL: database.url, DATA_DIR: folder, ENVIRONMENT: "sandbox", RATE_LIMIT_PAGES: "10000" };
  const server = await start([...nodeFlags, "server.ts"], environment, "/api/v1/health/live");
  try {
    for (const limit = Date.now() + 120_000; (await fetch(`${server.url}/icon.svg`)).status !== 200 && Date.now() < limit;)
      await new Promise((resolve) => setTimeout(resolve, 250));
    return (await measure(server.url, database.url)).toSorted((a, b) => b.scriptKb - a.scriptKb);
  } finally {
    await server.stop();
    await database.stop();
    for (const made of [database.directory, folder]) await rm(made, { recursive: true, force: true });
  }
}
