import type { ChainedEvent } from "#lib/audit/chain.ts";
import { inTurn } from "#lib/db/turns.ts";
import { perProcess } from "#lib/process.ts";
import { log } from "#lib/telemetry/log.ts";
import { isDelivered } from "#lib/webhooks/deliveries/attempt.ts";
import type { Answered } from "#lib/webhooks/deliveries/store.ts";
import { takeTurn, type Begun } from "#lib/webhooks/deliveries/lease-deliveries.ts";
import { TURN_MS } from "#lib/webhooks/limits.ts";
import { noteFailures } from "#lib/webhooks/deliveries/note-failures.ts";
import { giveBack, paced } from "#lib/webhooks/deliveries/pace.ts";
import { sendMessage, WIDTH } from "#lib/webhooks/deliveries/send-message.ts";

const FAILING_WIDTH = 2;
/** After these turns a sender ends, so that another endpoint can take its place. */
const TURNS_MAX = 200;
/** The longest wait between two turns while answers arrive or messages are started. */
const NOTED_AFTER_MS = 100;
/** The wait doubles up to this maximum while no answer arrives and no message can be started. */
const TURN_MAX_MS = 2_000;

/** All senders of this process together use at most this many database connections. */
export const CONNECTIONS = 4;

function withConnection<T>(work: () => Promise<T>): Promise<T> {
  const turns = perProcess("webhooks/deliveries/endpoint-sender", () => ({ next: 0 }));
  turns.next = (turns.next + 1) % CONNECTIONS;
  return inTurn(`webhooks ${turns.next}`, work, { waitMs: TURN_MS });
}

/** Sends the messages of one endpoint in turns, which store the answers that arrived and begin the next messages. */
class EndpointSender {
  readonly #id: string;
  readonly #answered: Answered[] = [];
  /** Events that were read from the audit chain and are not begun yet. */
  readonly #ahead: ChainedEvent[] = [];
  #underWay = 0;
  #isFailing: boolean;
  #wake: (() => void) | null = null;

  constructor(id: string, isFailing: boolean) {
    this.#id = id;
    this.#isFailing = isFailing;
  }

  async run(isStopping: () => boolean): Promise<void> {
    let quietMs = NOTED_AFTER_MS;
    for (let turn = 0; turn < TURNS_MAX && !isStopping(); turn += 1) {
      const noted = this.#answered.length;
      const begun = await this.#turn();
      if (begun === 0 && noted === 0 && this.#underWay === 0 && this.#answered.length === 0) return;
      quietMs = begun + noted > 0 ? NOTED_AFTER_MS : Math.min(TURN_MAX_MS, quietMs * 2);
      await this.#answers(quietMs);
    }
    for (;;) {
      await this.#store(this.#answered.splice(0));
      if (this.#underWay === 0 && this.#answered.length === 0) return;
      await this.#answers(TURN_MAX_MS);
    }
  }

  async #turn(): Promise<number> {
    const free = (this.#isFailing ? FAILING_WIDTH : WIDTH) - this.#underWay;
    const granted = free > 0 ? await paced(free) : 0;
    const answered = this.#answered.splice(0);
    await this.#failures(answered);
    const { begun, isFailing } = await withConnection(() => takeTurn(this.#id, answered, granted, this.#ahead));
    this.#isFailing = isFailing;
    giveBack(Math.max(0, granted - begun.length));
    for (const one of begun) void this.#send(one);
    return begun.length;
  }

  async #store(answered: readonly Answered[]): Promise<void> {
    if (answered.length === 0) return;
    await this.#failures(answered);
    await withConnection(() => takeTurn(this.#id, answered, 0, this.#ahead));
  }

  async #failures(answered: readonly Answered[]): Promise<void> {
    if (answered.every(({ answer }) => isDelivered(answer))) return;
    await withConnection(() => noteFailures(this.#id, answered));
  }

  async #send(begun: Begun): Promise<void> {
    this.#underWay += 1;
    try {
      this.#answered.push({ delivery: begun.delivery, answer: await sendMessage(begun) });
    } catch (error) {
      // The answer is not stored, so the lease of the delivery ends, and the message is sent again.
      log().error({ webhookEndpointId: this.#id, err: error }, "A webhook message was not sent");
    }
    this.#underWay -= 1;
    if (this.#answered.length >= this.#underWay) this.#wake?.();
  }

  /** Waits until half of the messages have answers, or until the time limit. */
  async #answers(milliseconds: number): Promise<void> {
    if (this.#answered.length > 0 && this.#answered.length >= this.#underWay) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = null;
  }
}

/** Ends when there are no more messages, its turns are used up, or `isStopping` returns true. */
export const runEndpointSender = (webhookEndpointId: string, isFailing: boolean, isStopping: () => boolean): Promise<void> =>
  new EndpointSender(webhookEndpointId, isFailing).run(isStopping);
