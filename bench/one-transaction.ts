/**
 * The baseline to compare batches with: one transaction for each request, which updates the mandate's row and inserts the
 * authorization's row. It uses postgres.js with the default pool, which is the driver's fastest setting here. Like the service
 * it is called over HTTP, and it writes the same row into copies of the same tables. It checks no credentials, policy or
 * idempotency, and writes no ledger entries and no audit events.
 */
import { createServer, type IncomingMessage } from "node:http";
import postgres from "postgres";
import { newId } from "#lib/ids.ts";

const sql = postgres(process.env["DATABASE_URL"] ?? "", { onnotice: () => {} });
await sql`DROP TABLE IF EXISTS bench_authorizations, bench_mandates`;
await sql`CREATE TABLE bench_authorizations (LIKE authorizations INCLUDING ALL)`;
await sql`CREATE TABLE bench_mandates (LIKE mandates INCLUDING ALL)`;
const [template] = await sql`SELECT * FROM authorizations WHERE outcome = 'allow' LIMIT 1`;
if (!template) throw new Error("There is no authorization to copy.");
const mandateId = template["mandate_id"] as string;
await sql`INSERT INTO bench_mandates SELECT * FROM mandates WHERE mandate_id = ${mandateId}`;

let sequence = 1_000_000_000;

async function read(incoming: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of incoming) text += String(chunk);
  return text;
}

type RequestBody = { readonly intent: { readonly intentId: string; readonly nonce: string; readonly idempotencyKey: string } };

async function authorize(text: string): Promise<string> {
  const { intent } = JSON.parse(text) as RequestBody;
  const authorizationId = newId("authorization");
  const row = {
    ...template,
    authorization_id: authorizationId,
    sequence: (sequence += 1),
    intent_id: intent.intentId,
    nonce: intent.nonce,
    slot: intent.idempotencyKey,
  };
  await sql.begin(async (tx) => {
    await tx`UPDATE bench_mandates SET reserved = reserved + ${template!["amount"] as string}::numeric WHERE mandate_id = ${mandateId}`;
    await tx`INSERT INTO bench_authorizations ${tx(row)}`;
  });
  return JSON.stringify({ authorizationId, outcome: "allow" });
}

const server = createServer((incoming, outgoing) => {
  void (async () => {
    const text = await read(incoming);
    const body = text === "" ? "{}" : await authorize(text);
    outgoing.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) }).end(body);
  })();
});
server.listen(Number(process.env["PORT"]));
process.once("SIGTERM", () => {
  server.close();
  server.closeAllConnections();
  void sql`DROP TABLE bench_authorizations, bench_mandates`.finally(() => void sql.end());
});
