#!/usr/bin/env node
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import * as errors from "./errors.ts";
import { factsOf } from "./facts.ts";
import { countersign } from "./index.ts";
import { parseJson, verifyReceipt } from "./verify-receipt.ts";

const HELP = `countersign pay URL [--operation NAME] [--method METHOD] [--data TEXT] [--header "Name: value"]... [--no-wait]
countersign budget
countersign verify FILE [--keys FILE]
countersign approve [CHECKOUT]

  --json      write one JSON object
  --no-wait   do not wait for a person: end with 4 and the address of the page

Environment: COUNTERSIGN_URL, COUNTERSIGN_API_KEY, COUNTERSIGN_MANDATE, and AGENT_PRIVATE_KEY if the agent signs.

Exit codes: 0 done, 1 failed, 2 wrong use, 3 denied, 4 not approved, 5 payment failed, 6 the seller did not serve,
7 the service refused or did not answer.
`;

/** The exit code of each kind of error. The first class that fits counts. */
const exits: readonly (readonly [kind: abstract new (...all: never[]) => Error, code: number])[] = [
  [errors.PaymentDenied, 3],
  [errors.ApprovalRequired, 4],
  [errors.ApprovalDeclined, 4],
  [errors.ApprovalExpired, 4],
  [errors.PaymentFailed, 5],
  [errors.NotServed, 6],
  [errors.ServiceRefused, 7],
  [errors.ServiceUnreachable, 7],
];

class WrongUse extends Error {}

const options = {
  operation: { type: "string" },
  method: { type: "string" },
  data: { type: "string" },
  header: { type: "string", multiple: true },
  keys: { type: "string" },
  "no-wait": { type: "boolean" },
  json: { type: "boolean" },
  help: { type: "boolean" },
} as const;

type Values = ReturnType<typeof readArguments>["values"];
const readArguments = (line: readonly string[]) => parseArgs({ args: [...line], options, allowPositionals: true });

function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === "") throw new WrongUse(`Set ${name}.`);
  return value;
}

async function client({ "no-wait": stops }: Values) {
  const { AGENT_PRIVATE_KEY } = process.env;
  const accounts = AGENT_PRIVATE_KEY ? await import("viem/accounts") : null;
  return countersign({
    url: setting("COUNTERSIGN_URL"),
    apiKey: setting("COUNTERSIGN_API_KEY"),
    mandateId: setting("COUNTERSIGN_MANDATE"),
    ...(accounts && { wallet: accounts.privateKeyToAccount(AGENT_PRIVATE_KEY as `0x${string}`) }),
    onApproval: ({ url }) => {
      console.error(`A person must approve this payment, at ${url}`);
      return stops ? "stop" : "wait";
    },
  });
}

/** The output of a command: an object for --json, and text for people. */
type Said = { readonly json: Readonly<Record<string, unknown>>; readonly text: string; readonly code?: number };

function headersOf(lines: readonly string[]): Headers {
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon < 1) throw new WrongUse(`Write a header as "Name: value", not ${line}.`);
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return headers;
}

async function pay(url: string, values: Values): Promise<Said> {
  if (!URL.canParse(url)) throw new WrongUse("Name the URL to pay for.");
  const { operation, data, header = [], method = data === undefined ? "GET" : "POST" } = values;
  const init = { method, headers: headersOf(header), ...(data !== undefined && { body: data }) };
  const answer = await (await client(values)).fetch(url, { ...init, ...(operation !== undefined && { operation }) });
  const body = await answer.text();
  return { json: { status: answer.status, body }, text: body, code: answer.ok ? 0 : 1 };
}

async function budget(values: Values): Promise<Said> {
  const remaining = await (await client(values)).budget();
  const lines = remaining.limits.map(
    ({ pointer, window, unit, limit, remaining: left, resetsAt }) =>
      `${(window ?? pointer.split("/").at(-1) ?? "").padEnd(24)} ${left} of ${limit} ${unit}${resetsAt ? `, whole again at ${resetsAt}` : ""}`,
  );
  const { mode, amount } = remaining.approval;
  const approval = `A person is asked: ${mode}${amount === undefined ? "" : ` ${amount} ${remaining.asset.asset}`}`;
  return { json: remaining, text: [`The mandate is ${remaining.status}.`, ...lines, approval].join("\n") };
}

async function verify(file: string, { keys }: Values): Promise<Said> {
  if (file === "") throw new WrongUse("Name the file with the receipt.");
  const receipt = parseJson(await readFile(file, "utf8"));
  const published = async (): Promise<string> => (await fetch(`${setting("COUNTERSIGN_URL")}/.well-known/jwks.json`)).text();
  const jwks = parseJson(keys === undefined ? await published() : await readFile(keys, "utf8"));
  const { ok, step, detail } = await verifyReceipt(receipt, jwks);
  return { json: { ok, step, detail }, text: ok ? detail : `The step ${step} fails: ${detail}`, code: ok ? 0 : 1 };
}

/** Opens the page where people approve. The command line itself approves nothing. */
function approve(checkout: string | undefined): Said {
  const path = checkout === undefined ? "/approvals" : `/checkout/${encodeURIComponent(checkout)}`;
  const url = `${setting("COUNTERSIGN_URL").replace(/\/+$/, "")}${path}`;
  if (process.stdout.isTTY) {
    const opener = process.platform === "darwin" ? "open" : process.platform === "win32" ? "explorer" : "xdg-open";
    spawn(opener, [url], { stdio: "ignore", detached: true })
      .on("error", () => {})
      .unref();
  }
  return { json: { url }, text: url };
}

const commands = new Map<string, (subject: string | undefined, values: Values) => Said | Promise<Said>>([
  ["pay", (url = "", values) => pay(url, values)],
  ["budget", (_, values) => budget(values)],
  ["verify", (file = "", values) => verify(file, values)],
  ["approve", (checkout) => approve(checkout)],
]);

async function runCommand([name, subject]: readonly string[], values: Values): Promise<Said> {
  const command = commands.get(name ?? "");
  if (!command) throw new WrongUse(name === undefined ? "Name a command." : `There is no command ${name}.`);
  return command(subject, values);
}

function failure(error: unknown): Said {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const isUse = error instanceof WrongUse || (error as { code?: unknown }).code?.toString().startsWith("ERR_PARSE_ARGS") === true;
  if (isUse) return { json: { error: "WrongUse", message }, text: `${message}\n\n${HELP}`, code: 2 };
  const code = exits.find(([kind]) => error instanceof kind)?.[1] ?? 1;
  return { json: factsOf(error), text: `${name}: ${message}`, code };
}

async function main(line: readonly string[]): Promise<void> {
  const isJson = line.includes("--json");
  let said: Said;
  try {
    const { values, positionals } = readArguments(line);
    said = values.help ? { json: { help: HELP }, text: HELP } : await runCommand(positionals, values);
  } catch (error) {
    said = failure(error);
  }
  const { json, text, code = 0 } = said;
  if (isJson) console.log(JSON.stringify(json));
  else if (code === 0) console.log(text);
  else console.error(text);
  process.exitCode = code;
}

await main(process.argv.slice(2));
