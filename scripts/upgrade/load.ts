import { setTimeout as pause } from "node:timers/promises";
import { authorizeBody, setScene, type Scene } from "../../bench/scene.ts";
import type { Acknowledgement } from "../../test/faults/oracle.ts";
import { ANSWERED_BY, type Backend, type Balancer } from "./balancer.ts";
import { PLANTED_CODE } from "./planted.ts";

const AUTHORIZE = "/api/v1/payments/authorize";
const CLIENTS = 8;
/** A client waits so long before its next request, so that a small machine is busy and not overloaded. */
const THINK_MS = 20;
/** A request without an answer for so long is one that nobody answers. */
const PATIENCE_MS = 60_000;
const REPEATS_AT_ONCE = 16;
/** Of all answers, so many are repeated in each check. */
const REPEATED = 600;

type Answer = { readonly body: string; readonly key: string; readonly text: string; readonly version: string };
type Decision = { readonly authorizationId: string; readonly policyDecision: { readonly outcome: string } };

/** A release that cannot show the sentence of a newer one refuses the repeat with 503. */
const mayRefuse = (one: Answer, version: string): boolean => one.version !== version && one.text.includes(PLANTED_CODE);

/** Agents that pay under mandates with budgets, and repeat requests that were answered. */
export class Load {
  readonly answers: Answer[] = [];
  /** What no release may answer, a sentence for each. */
  readonly wrong: string[] = [];
  slowestMs = 0;
  readonly #balancer: Balancer;
  readonly #scene: Scene;
  readonly #wide: readonly string[];
  #tight = "";
  #running: Promise<unknown> = Promise.resolve();
  #stopped = true;

  private constructor(balancer: Balancer, scene: Scene, wide: readonly string[]) {
    [this.#balancer, this.#scene, this.#wide] = [balancer, scene, wide];
  }

  static async prepare(balancer: Balancer): Promise<Load> {
    const scene = await setScene(balancer.url, 4);
    return new Load(balancer, scene, [await scene.mandate("1000000"), await scene.mandate("1000000")]);
  }

  /** The headers of the session of the person who wrote the mandates. */
  get person(): Readonly<Record<string, string>> {
    return this.#scene.person;
  }

  get allowed(): Acknowledgement[] {
    return this.answers.flatMap(({ body, text }) => {
      const { authorizationId, policyDecision } = JSON.parse(text) as Decision;
      const { mandateId } = JSON.parse(body) as { mandateId: string };
      return policyDecision.outcome === "allow" ? [{ authorizationId, mandateId }] : [];
    });
  }

  /** Starts the clients, with a mandate whose budget they use up. */
  async start(): Promise<void> {
    this.#tight = await this.#scene.mandate("0.50");
    this.#stopped = false;
    this.#running = Promise.all(Array.from({ length: CLIENTS }, (_, at) => this.#client(at)));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  /** Repeats the newest answers and some of the older ones at one process. Returns how many it refused, as it may. */
  async repeatAt(backend: Backend): Promise<{ readonly repeated: number; readonly refused: number }> {
    const step = Math.max(1, Math.floor(this.answers.length / (REPEATED / 2)));
    const chosen = new Set([...this.answers.slice(-REPEATED / 2), ...this.answers.filter((_, at) => at % step === 0)]);
    const [left, repeated] = [[...chosen], chosen.size];
    let refused = 0;
    const client = async (): Promise<void> => {
      for (let one = left.pop(); one; one = left.pop()) {
        const { status, text } = await this.#post(backend.url, one.body, one.key);
        if (status === 503 && mayRefuse(one, backend.version)) refused += 1;
        else if (status !== 200 || text !== one.text)
          this.wrong.push(`${backend.version} answered a repeat with ${status} ${text} and not with ${one.text}`);
      }
    };
    await Promise.all(Array.from({ length: REPEATS_AT_ONCE }, client));
    return { repeated, refused };
  }

  async #client(at: number): Promise<void> {
    const key = this.#scene.keys[at % this.#scene.keys.length]!;
    for (let turn = at; !this.#stopped; turn += 1, await pause(THINK_MS)) {
      const mandateId = turn % 4 === 0 ? this.#tight : this.#wide[turn % this.#wide.length]!;
      const body = authorizeBody(this.#scene, mandateId);
      await this.#pay(
        turn % 10 === 0 ? body.replace(/"amount":"0.01"(?=,"asset":"USDC","expiresAt")/, '"amount":"2.00"') : body,
        key,
      );
      if (turn % 3 === 0) await this.#repeat(this.answers[(turn * 7_919) % this.answers.length]!);
    }
  }

  async #pay(body: string, key: string): Promise<void> {
    const began = performance.now();
    const { status, text, version } = await this.#post(this.#balancer.url, body, key);
    this.slowestMs = Math.max(this.slowestMs, performance.now() - began);
    if (status === 200) this.answers.push({ body, key, text, version });
    else this.wrong.push(`${version} answered a payment with ${status} ${text}`);
  }

  async #repeat(one: Answer): Promise<void> {
    const { status, text, version } = await this.#post(this.#balancer.url, one.body, one.key);
    if (status === 503 && mayRefuse(one, version)) return;
    if (status !== 200 || text !== one.text) this.wrong.push(`a repeat got ${status} ${text} and not ${one.text}`);
  }

  async #post(url: string, body: string, key: string): Promise<{ status: number; text: string; version: string }> {
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const reply = await fetch(url + AUTHORIZE, { method: "POST", headers, body, signal });
    return { status: reply.status, text: await reply.text(), version: reply.headers.get(ANSWERED_BY) ?? "no process" };
  }
}
