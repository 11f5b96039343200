#!/usr/bin/env node
import { readFile } from "node:fs/promises";
import { NoCommand, readArguments, WrongUse, type Said, type Values } from "./cli/arguments.ts";
import { authorize, record } from "./cli/elsewhere.ts";
import { listen } from "./cli/listen.ts";
import { login } from "./cli/login.ts";
import { bridge } from "./cli/mcp.ts";
import { approve, budget, pay, verify } from "./cli/pay.ts";
import * as errors from "./errors.ts";
import { factsOf } from "./facts.ts";

const HELP = `countersign login URL
countersign pay URL [--operation NAME] [--method METHOD] [--data TEXT] [--header "Name: value"]... [--no-wait]
countersign authorize --amount AMOUNT --asset USD --seller NAME --reference TEXT [--payee iban:IBAN] [--purpose TEXT]
    [--operation NAME] [--no-wait]
countersign record AUTHORIZATION --amount AMOUNT --asset USD [--partly] [--paid-at TIME] [--reference TEXT] [--evidence FILE]
    [--operation NAME]
countersign budget
countersign verify FILE [--keys FILE]
countersign approve [CHECKOUT]
countersign listen PORT [--after SEQUENCE] [--cursor FILE] [--types payment.*,mandate.revoked] [--secret whsec_...]
countersign mcp

  --json      write one JSON object; listen writes one for each event
  --no-wait   do not wait for a person: end with 4 and the address of the page
  --partly    more parts will follow
  --evidence  store the SHA-256 of this file, such as a statement
  --cursor    keep the sequence of the last event in this file, and continue there

authorize asks to pay something by other means, such as a transfer; record says what you paid of it.
login saves an API key in the settings file. Variables come first: COUNTERSIGN_URL, COUNTERSIGN_API_KEY, COUNTERSIGN_MANDATE,
AGENT_PRIVATE_KEY if the agent signs, and COUNTERSIGN_CONFIG for another settings file.

Exit codes: 0 done, 1 failed, 2 wrong use or a missing setting, 3 denied, 4 not approved, 5 payment failed, 6 the seller did not serve,
7 the service refused or did not answer, 8 the seller asks for a payment that cannot be made, 9 the authorization ended unpaid.
`;

/** The exit code of each kind of error. The first class that fits counts. Wrong use has code 2, and any other error 1. */
const exits: readonly (readonly [kind: abstract new (...all: never[]) => Error, code: number])[] = [
  [errors.PaymentDenied, 3],
  [errors.ApprovalRequired, 4],
  [errors.ApprovalDeclined, 4],
  [errors.ApprovalExpired, 4],
  [errors.PaymentFailed, 5],
  [errors.NotServed, 6],
  [errors.ServiceRefused, 7],
  [errors.ServiceUnreachable, 7],
  [errors.ChallengeRefused, 8],
  [errors.AuthorizationEnded, 9],
];

/** The command `mcp` returns null, because only protocol messages may be written to its stdout. */
const commands = new Map<string, (subject: string | undefined, values: Values) => Promise<Said | null>>([
  ["login", (url = "") => login(url)],
  ["pay", (url = "", values) => pay(url, values)],
  ["authorize", (_, values) => authorize(values)],
  ["record", (authorization = "", values) => record(authorization, values)],
  ["budget", () => budget()],
  ["verify", (file = "", values) => verify(file, values)],
  ["approve", (checkout) => approve(checkout)],
  ["listen", (target = "", values) => listen(target, values)],
  ["mcp", () => bridge()],
]);

const withoutArgument: ReadonlySet<string> = new Set(["authorize", "budget", "mcp"]);

async function runCommand([name, subject, ...more]: readonly string[], values: Values): Promise<Said | null> {
  if (values.version) {
    const { version } = JSON.parse(await readFile(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
    return { json: { version }, text: version };
  }
  if (values.help || name === "help") return { json: { help: HELP }, text: HELP };
  const command = commands.get(name ?? "");
  if (!command) throw new NoCommand(name === undefined ? "Name a command." : `There is no command ${name}.`);
  if (subject !== undefined && withoutArgument.has(name ?? ""))
    throw new WrongUse(`${name} takes no argument. Leave ${[subject, ...more].join(" ")} out.`);
  if (more.length > 0) throw new WrongUse(`${name} takes one argument, and not ${more.join(" ")} too.`);
  return command(subject, values);
}

function failure(error: unknown): Said {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const isUnread = (error as { code?: unknown }).code?.toString().startsWith("ERR_PARSE_ARGS") === true;
  const showsHelp = isUnread || error instanceof NoCommand;
  if (isUnread || error instanceof WrongUse)
    return { json: { error: "WrongUse", message }, text: showsHelp ? `${HELP}\n${message}` : message, code: 2 };
  const code = exits.find(([kind]) => error instanceof kind)?.[1] ?? 1;
  return { json: factsOf(error), text: `${name}: ${message}`, code };
}

async function main(line: readonly string[]): Promise<void> {
  const isJson = line.includes("--json");
  let said: Said | null;
  try {
    const { values, positionals } = readArguments(line);
    said = await runCommand(positionals, values);
  } catch (error) {
    said = failure(error);
  }
  if (!said) return;
  const { json, text, code = 0 } = said;
  if (isJson) console.log(JSON.stringify(json));
  else if (text !== "") (code === 0 ? console.log : console.error)(text);
  process.exitCode = code;
}

await main(process.argv.slice(2));
