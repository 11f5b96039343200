import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { access, serviceUrl, settingsFile } from "../../sdk/src/cli/settings.ts";
import { countersign } from "../../sdk/src/index.ts";
import { plain, run } from "#test/package.ts";
import { listen } from "#test/shop.ts";

/* The settings and options of the command line that need no service. */

const command = join(import.meta.dirname, "../../sdk/src/cli.ts");

type Said = { readonly code: number; readonly stdout: string };
const settings = {
  COUNTERSIGN_URL: "http://127.0.0.1:9",
  COUNTERSIGN_API_KEY: "csk_sandbox_any",
  COUNTERSIGN_MANDATE: "any",
  COUNTERSIGN_CONFIG: join(tmpdir(), "countersign-of-nobody.json"),
  AGENT_PRIVATE_KEY: "",
};

async function cli(line: readonly string[], change: Readonly<Record<string, string>> = {}) {
  const env = { ...plain, NODE_ENV: "production" as const, NODE_OPTIONS: "", ...settings, ...change };
  const { code, stdout } = await run(process.execPath, [command, ...line, "--json"], { env }).then(
    (said): Said => ({ code: 0, stdout: said.stdout }),
    (error: unknown) => error as Said,
  );
  return { code, ...(JSON.parse(stdout) as { readonly error?: string; readonly message?: string }) };
}

function use(change: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries({ ...settings, ...change })) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

test.each(["", "settings", "./settings"])("the folder of XDG_CONFIG_HOME is ignored if it is empty or relative: %j", (folder) => {
  use({ COUNTERSIGN_CONFIG: "", XDG_CONFIG_HOME: folder, APPDATA: "" });
  expect(settingsFile()).toBe(join(homedir(), ".config", "countersign", "config.json"));
});

test("the settings are in the folder of XDG_CONFIG_HOME if it is absolute", () => {
  use({ COUNTERSIGN_CONFIG: "", XDG_CONFIG_HOME: tmpdir() });
  expect(settingsFile()).toBe(join(tmpdir(), "countersign", "config.json"));
});

test.each([
  [["--header", "bad header: x"], "bad header: x"],
  [["--header", "X-A: 買"], "X-A: 買"],
  [["--method", "FOO BAR"], "FOO BAR"],
  [["--method", "GET", "--data", "x"], "GET"],
])("a request that HTTP does not allow is wrong use: %j", { timeout: 30_000 }, async (options, named) => {
  const said = await cli(["pay", "http://127.0.0.1:9/x", ...options]);
  expect(said).toMatchObject({ code: 2, error: "WrongUse", message: expect.stringContaining(named) });
});

test.each(["null", "5", '{"url":5}', '{"apiKey":[]}'])("settings of another form are wrong use: %s", async (text) => {
  const folder = await mkdtemp(join(tmpdir(), "countersign-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "config.json");
  await writeFile(file, text, { mode: 0o600 });
  const said = await cli(["budget"], { COUNTERSIGN_CONFIG: file });
  expect(said).toMatchObject({ code: 2, error: "WrongUse", message: expect.stringContaining(file) });
});

test("a key with a character that no key has is refused at once, and is not shown", async () => {
  const apiKey = "csk_sandbox_買";
  const said = await cli(["budget"], { COUNTERSIGN_API_KEY: apiKey });
  expect(said).toMatchObject({ code: 2, error: "WrongUse", message: expect.stringContaining("COUNTERSIGN_API_KEY") });
  expect(said.message).not.toContain(apiKey);
  expect(() => countersign({ url: settings.COUNTERSIGN_URL, apiKey, mandateId: "mdt_1" })).toThrow("apiKey contains a character");
});

test("white space around the service's address and the key is ignored", async () => {
  const asked: unknown[] = [];
  const service = await listen(
    createServer((request, response) => {
      asked.push([request.url, request.headers.authorization]);
      response.end("{}");
    }),
  );
  onTestFinished(() => service.close());
  await countersign({ url: ` ${service.url}/ `, apiKey: " csk_sandbox_any\n", mandateId: "mdt_1" }).budget();
  expect(asked).toEqual([["/api/v1/mandates/mdt_1/remaining", "Bearer csk_sandbox_any"]]);
  use({ COUNTERSIGN_URL: ` ${service.url}/ `, COUNTERSIGN_API_KEY: " csk_sandbox_any\n" });
  expect(await serviceUrl()).toBe(service.url);
  expect(await access()).toMatchObject({ url: service.url, apiKey: "csk_sandbox_any" });
});

/** Runs `countersign pay` for a seller that asks for no payment and answers with the status and an empty body. */
async function pay(status: number, ...line: readonly string[]): Promise<Said & { readonly stderr: string }> {
  const seller = await listen(createServer((_, response) => response.writeHead(status).end()));
  onTestFinished(() => seller.close());
  const settings = { COUNTERSIGN_URL: seller.url, COUNTERSIGN_API_KEY: "csk_sandbox_any", COUNTERSIGN_MANDATE: "any" };
  const env = { ...plain, NODE_ENV: "production" as const, NODE_OPTIONS: "", AGENT_PRIVATE_KEY: "", ...settings };
  return run(process.execPath, [command, "pay", `${seller.url}/report`, ...line], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: unknown) => error as Said & { readonly stderr: string },
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

const invoice = ["--seller", "Ink", "--reference", "4711"];
test.each([
  [["authorize", "--amount", "5", "--asset", "USD"], "--seller NAME --reference INVOICE"],
  [["authorize", ...invoice, "--asset", "USD"], "--amount 100 --asset USD"],
  [["authorize", ...invoice, "--amount", "5", "--asset", "USD", "--payee", "DE89370400440532013000"], "--payee iban:"],
  [["authorize", "5 USD"], "takes no argument"],
  [["record"], "begins with aut_"],
  [["record", "aut_1", "--amount", "5", "--asset", "USD", "--evidence", "missing.pdf"], "missing.pdf cannot be read"],
])("wrong use for a payment that is made elsewhere: %j", { timeout: 30_000 }, async (line, named) => {
  expect(await cli(line)).toMatchObject({ code: 2, error: "WrongUse", message: expect.stringContaining(named) });
});
