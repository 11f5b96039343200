import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { plain, run } from "#test/package.ts";
import { listen } from "#test/shop.ts";

const command = join(import.meta.dirname, "../../sdk/src/cli.ts");

type Said = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs `countersign pay` for a seller that asks for no payment and answers with the status and an empty body. */
async function pay(status: number, ...line: readonly string[]): Promise<Said> {
  const seller = await listen(createServer((_, response) => response.writeHead(status).end()));
  onTestFinished(() => seller.close());
  const settings = { COUNTERSIGN_URL: seller.url, COUNTERSIGN_API_KEY: "csk_sandbox_any", COUNTERSIGN_MANDATE: "any" };
  const env = { ...plain, NODE_ENV: "production" as const, NODE_OPTIONS: "", AGENT_PRIVATE_KEY: "", ...settings };
  return run(process.execPath, [command, "pay", `${seller.url}/report`, ...line], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => error as Said,
  );
}

test.each([
  [204, 0],
  [404, 1],
  [500, 1],
])("pay writes JSON and ends with the exit code for an empty answer with status %i", async (status, code) => {
  const [plainly, json] = await Promise.all([pay(status), pay(status, "--json")]);
  expect(plainly).toMatchObject({ code, stdout: "", stderr: "" });
  expect(json).toMatchObject({ code, stdout: `${JSON.stringify({ status, body: "" })}\n` });
});
