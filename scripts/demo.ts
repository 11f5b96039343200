/** `npm run demo`: shows a payment from start to end on this machine. With --once it exits afterwards. */
import assert from "node:assert/strict";
import "./commands/with-parent.ts";
import { payByCard } from "./demo/cards.ts";
import { invite } from "./demo/closing.ts";
import { payElsewhere } from "./demo/invoice.ts";
import { payWithoutKey } from "./demo/keyless.ts";
import { holdLimits, payThroughUs } from "./demo/limits.ts";
import { shop } from "./demo/order.ts";
import { balances, payOnce, printBalances } from "./demo/payment.ts";
import type { Service } from "./demo/service.ts";
import { setUp } from "./demo/setup.ts";
import { setStage } from "./demo/stage.ts";
import { plain, report, section, silence, step } from "./demo/timeline.ts";

const once = process.argv.includes("--once");

const closers: (() => Promise<void>)[] = [];
const closing = (close: () => Promise<void>): void => void closers.push(close);

async function closeAll(): Promise<void> {
  for (let close = closers.pop(); close; close = closers.pop()) await close();
}

/** Resolves with the signal that ends the demo. */
const interrupted = new Promise<NodeJS.Signals>((resolve) => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resolve(signal));
  // If the reader of the output has closed the pipe, end the demo.
  process.stdout.on("error", () => resolve("SIGHUP"));
});

async function run(): Promise<Service> {
  plain("Countersign: may this agent make this payment, under this mandate?");
  const stage = await setStage({ closing });
  const parties = await setUp(stage);
  const { apiKey, mandateId } = parties;
  const agent = { serviceUrl: stage.service.url, apiKey, mandateId, wallet: stage.agent };
  const before = await balances(stage);
  const paid = await payOnce(stage, parties, agent);
  const after = await balances(stage);
  printBalances(stage, before, after);
  await step("The seller's balance has grown by exactly the price", async (tell) => {
    assert.equal(after.seller - before.seller, paid.price, "The seller has the price, no more and no less.");
    assert.equal(before.agent - after.agent, paid.price, "The agent paid the price, no more and no less.");
    tell("gained", `${after.seller - before.seller} of the token's smallest units; the price is ${paid.price}`);
  });
  await payThroughUs(stage, parties, agent);
  const shopping = await shop(stage, parties);
  const keyless = await payWithoutKey(stage, parties);
  await payElsewhere(stage, parties);
  await payByCard(parties);
  await holdLimits(stage, parties, agent, paid);
  section("Every step succeeded.");
  if (!once) await invite(stage, parties, { ...shopping, keyless });
  return stage.service;
}

async function outcome(): Promise<number> {
  const done = run();
  const first = await Promise.race([done, interrupted]);
  if (typeof first === "string") {
    // When the servers stop, open requests fail, so their errors are ignored.
    done.catch(() => {});
    return 130;
  }
  if (once) return 0;
  const last = await Promise.race([first.ended, interrupted]);
  if (typeof last === "string") return 0;
  throw new Error(`The service ended by itself with code ${last}.`);
}

const code = await outcome().catch((error: unknown) => {
  report(error);
  return 1;
});
if (code !== 0 || !once) plain("\nStopping.");
silence();
await closeAll();
process.exit(code);
