/**
 * `npm run verify -- receipt.json --keys <file or https address>`: verifies a saved receipt with the published keys and nothing
 * else.
 */
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { commandFor, isPackaged } from "#lib/process.ts";
import { verifyReceiptText } from "#lib/receipts/verify-receipt.ts";

const usage = `Usage: ${commandFor("verify")}${isPackaged() ? "" : " --"} receipt.json --keys <file or https address> [--json]

receipt.json is a saved answer of GET /api/v1/receipts/payments/{authorizationId}. The keys are those that the service
publishes, such as https://pay.example.com/.well-known/jwks.json.
Exit code: 0 if the receipt verifies, 1 if it does not, 2 if it could not be checked.`;

const KEYS_MS = 10_000;
const BYTES_MAX = 1_000_000;

function fail(message: string): never {
  console.error(`${message}\n\n${usage}`);
  process.exit(2);
}

function readArguments() {
  try {
    return parseArgs({ allowPositionals: true, options: { keys: { type: "string" }, json: { type: "boolean" } } });
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

const addressOf = (keys: string): URL | null => (/^https?:/.test(keys) && URL.canParse(keys) ? new URL(keys) : null);

async function fetchKeys(address: URL): Promise<string> {
  // Without TLS, anybody on the network could replace the keys.
  if (address.protocol !== "https:" && !["localhost", "127.0.0.1", "[::1]"].includes(address.hostname))
    fail("Keys are fetched over https only.");
  const reply = await fetch(address, { redirect: "error", signal: AbortSignal.timeout(KEYS_MS) });
  if (!reply.ok) fail(`The keys cannot be read: ${address.href} answers ${reply.status}.`);
  return reply.text();
}

async function read(what: string, from: () => Promise<string>): Promise<string> {
  const text = await from().catch((error: unknown) => {
    const { cause = error } = error as { readonly cause?: unknown };
    return fail(`${what} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}.`);
  });
  return text.length > BYTES_MAX ? fail(`${what} cannot be read: more than ${BYTES_MAX} characters.`) : text;
}

const { values, positionals } = readArguments();
const { keys, json = false } = values;
const [file] = positionals;
if (file === undefined || positionals.length > 1) fail("Name one file with the answer.");
if (keys === undefined) fail("Name the published keys with --keys.");
const address = addressOf(keys);
const answer = await read("The answer", () => readFile(file, "utf8"));
const published = await read("The keys", () => (address ? fetchKeys(address) : readFile(keys, "utf8")));
const verdict = await verifyReceiptText(answer, published);
if (json) console.log(JSON.stringify(verdict, null, 2));
else if (verdict.ok) console.log(verdict.proved);
else console.log(`Not verified, at the step "${verdict.step}": ${verdict.detail}`);
if (verdict.ok && address && !json && new URL(verdict.claims.iss).origin !== address.origin)
  console.error(
    `The keys are from ${address.origin}. Make sure that they are the keys of ${new URL(verdict.claims.iss).origin}.`,
  );
process.exit(verdict.ok ? 0 : 1);
