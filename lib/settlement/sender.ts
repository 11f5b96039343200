import { setImmediate as turn } from "node:timers/promises";
import { log } from "#lib/http/log.ts";
import { chainFailure } from "#lib/onchain/client.ts";
import { perProcess } from "#lib/process.ts";
import { NoGas, sendGroup, type Call, type Outcome } from "#lib/settlement/send-group.ts";
import type { Hex } from "viem";

const GROUP_MAX = 64;
const WAITING_MAX = 1_024;

type Waiting = { readonly call: Call; resolve(hash: Hex): void; reject(error: unknown): void };

/** What this process sends with the settlement key on one chain: group after group, each as large as what came meanwhile. */
class Sender {
  readonly #chain: string;
  readonly #waiting: Waiting[] = [];
  #working = false;
  #failingSince: number | null = null;

  constructor(chain: string) {
    this.#chain = chain;
  }

  /** For how many seconds nothing could be sent. */
  get failingSeconds(): number {
    return this.#failingSince === null ? 0 : (performance.now() - this.#failingSince) / 1_000;
  }

  /** The hash, once the bytes are stored and were offered to a node. */
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
    while (this.#waiting.length > 0) await this.#sendOne(this.#waiting.splice(0, GROUP_MAX));
    this.#working = false;
  }

  async #sendOne(group: readonly Waiting[]): Promise<void> {
    let outcomes: readonly Outcome[];
    try {
      outcomes = await sendGroup(
        this.#chain,
        group.map(({ call }) => call),
      );
    } catch (error) {
      log().warn({ chain: this.#chain, reason: chainFailure(error) }, "Settlements could not be sent");
      outcomes = group.map(() => ({ error }));
      this.#failingSince ??= performance.now();
    }
    if (outcomes.some((one) => "hash" in one)) this.#failingSince = null;
    if (outcomes.some((one) => "error" in one && one.error instanceof NoGas)) {
      this.#failingSince ??= performance.now();
      log().error({ chain: this.#chain }, "The settlement wallet cannot pay for gas");
    }
    for (const [at, { resolve, reject }] of group.entries()) {
      const outcome = outcomes[at]!;
      if ("hash" in outcome) resolve(outcome.hash);
      else reject(outcome.error);
    }
  }
}

export const senderOn = (chain: string): Sender => perProcess(`settlementSender ${chain}`, () => new Sender(chain));
