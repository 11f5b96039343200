import { setImmediate as turn } from "node:timers/promises";
import { log } from "#lib/telemetry/log.ts";
import { chainFailure } from "#lib/chains/client.ts";
import { perProcess } from "#lib/process.ts";
import { factsNow, NoGas, sendGroup, type Call, type Facts, type Outcome } from "#lib/settlement/sending/send-group.ts";
import type { Hex } from "viem";

const GROUP_MAX = 64;
const WAITING_MAX = 1_024;
/** A transaction count of this age does no harm, because the database has the nonces that were taken since then. */
const FACTS_MS = 1_000;
/** If no call has failed for this long, the clients of the failed calls are taken to have given up. */
const ALARM_MS = 10 * 60_000;

type QueuedCall = { readonly call: Call; resolve(hash: Hex): void; reject(error: unknown): void };

/** While a group of calls is stored, new calls wait for the next group. */
class Sender {
  readonly #chain: string;
  readonly #waiting: QueuedCall[] = [];
  #working = false;
  #failingSince: number | null = null;
  /** Until this time, in milliseconds of performance.now(), earlier failures count in `failingSeconds`. */
  #waitsUntil = 0;

  constructor(chain: string) {
    this.#chain = chain;
  }

  /** Seconds since the first failure that still counts; zero if none counts. */
  get failingSeconds(): number {
    if (performance.now() >= this.#waitsUntil) this.#failingSince = null;
    return this.#failingSince === null ? 0 : (performance.now() - this.#failingSince) / 1_000;
  }

  /** Resolves when the signed transaction is stored; it may not have reached a node. */
  send(call: Call): Promise<Hex> {
    if (this.#waiting.length >= WAITING_MAX) return Promise.reject(new Error("Too many settlements wait to be sent."));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject });
      if (!this.#working) void this.#work();
    });
  }

  async #work(): Promise<void> {
    this.#working = true;
    await turn();
    let facts: Promise<Facts> | null = null;
    let since = 0;
    while (this.#waiting.length > 0) {
      if (!facts || performance.now() - since > FACTS_MS) {
        facts = factsNow(this.#chain);
        since = performance.now();
      }
      if (!(await this.#sendOne(this.#waiting.splice(0, GROUP_MAX), facts))) facts = null;
    }
    this.#working = false;
  }

  /** Does not wait until the calls are sent, so the next calls can begin. Returns false if `sendGroup` failed. */
  async #sendOne(group: readonly QueuedCall[], facts: Promise<Facts>): Promise<boolean> {
    const calls = group.map(({ call }) => call);
    try {
      const { outcomes, sent } = await sendGroup(this.#chain, calls, facts);
      this.#note(calls, outcomes);
      void sent.then(() => answer(group, outcomes));
      return true;
    } catch (error) {
      log().warn({ chain: this.#chain, reason: chainFailure(error) }, "Settlements could not be sent");
      this.#fail(calls);
      answer(
        group,
        group.map(() => ({ error })),
      );
      return false;
    }
  }

  #note(calls: readonly Call[], outcomes: readonly Outcome[]): void {
    if (outcomes.some((one) => "hash" in one)) this.#waitsUntil = 0;
    const unpaid = calls.filter((_, at) => isUnpaid(outcomes[at]!));
    if (unpaid.length === 0) return;
    this.#fail(unpaid);
    log().error({ chain: this.#chain }, "The settlement wallet cannot pay for gas");
  }

  #fail(calls: readonly Call[]): void {
    const now = performance.now();
    if (now >= this.#waitsUntil) this.#failingSince = null;
    this.#failingSince ??= performance.now();
    const ends = calls.map(({ validBefore }) => now + Math.min(validBefore ? validBefore.getTime() - Date.now() : 0, ALARM_MS));
    this.#waitsUntil = Math.max(this.#waitsUntil, ...ends);
  }
}

const isUnpaid = (outcome: Outcome): boolean => "error" in outcome && outcome.error instanceof NoGas;

function answer(group: readonly QueuedCall[], outcomes: readonly Outcome[]): void {
  for (const [at, { resolve, reject }] of group.entries()) {
    const outcome = outcomes[at]!;
    if ("hash" in outcome) resolve(outcome.hash);
    else reject(outcome.error);
  }
}

export const senderOn = (chain: string): Sender => perProcess(`settlement/sending/sender ${chain}`, () => new Sender(chain));
