import { setTimeout as pause } from "node:timers/promises";
import { authorizeBody, setScene, type Scene } from "../../bench/scene.ts";
import type { Acknowledgement } from "../../test/faults/oracle.ts";
import { ANSWERED_BY, type Backend, type Balancer } from "./balancer.ts";

const AUTHORIZE = "/api/v1/payments/authorize";
const CLIENTS = 8;
/** A client waits so long before its next request, so that a small machine is busy and not overloaded. */
const THINK_MS = 20;
/** A request without an answer for so long is one that nobody answers. */
const PATIENCE_MS = 60_000;
/** A client waits so long after 503. */
const AGAIN_MS = 100;
const REPEATS_AT_ONCE = 16;
/** Of all answers, so many are repeated in each check. */
const REPEATED = 600;

type Request = { readonly body: string; readonly key: string };
type Answer = Request & { readonly text: string; readonly version: string; /** When it came. */ readonly at: number };
type Reply = { readonly status: number; readonly text: string; readonly version: string };
type Decision = { readonly authorizationId: string; readonly policyDecision: { readonly outcome: string } };

export type Tolerance = {
  /** Whether a process of this version may answer 503 to a repeat. */
  readonly mayRefuse?: (one: Answer, version: string) => boolean;
  /** Whether the database may be away for a while. Then a client that gets 503 sends the same request again until it is answered. */
  readonly outages?: boolean;
};

/** Agents that pay under mandates with budgets, and repeat requests that were answered. */
export class Load {
  readonly answers: Answer[] = [];
  /** What no release may answer, a sentence for each. */
  readonly wrong: string[] = [];
  slowestMs = 0;
  readonly #balancer: Balancer;
  readonly #scene: Scene;
  readonly #wide: readonly string[];
  readonly #tolerance: Tolerance;
  #tight = "";
  #running: Promise<unknown> = Promise.resolve();
  #stopped = true;

  private constructor(balancer: Balancer, scene: Scene, wide: readonly string[], tolerance: Tolerance) {
    [this.#balancer, this.#scene, this.#wide, this.#tolerance] = [balancer, scene, wide, tolerance];
  }

  static async prepare(balancer: Balancer, tolerance: Tolerance): Promise<Load> {
    const scene = await setScene(balancer.url, 4);
    return new Load(balancer, scene, [await scene.mandate("1000000"), await scene.mandate("1000000")], tolerance);
  }

  /** The mandate whose budget the clients use up. */
  get tight(): string {
    return this.#tight;
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
        if (status === 503 && this.#tolerance.mayRefuse?.(one, backend.version)) refused += 1;
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
      const repeated = this.answers[(turn * 7_919) % this.answers.length];
      if (turn % 3 === 0 && repeated) await this.#repeat(repeated);
    }
  }

  /** Pays once at one process. */
  async payAt({ url }: Backend): Promise<void> {
    await this.#pay(authorizeBody(this.#scene, this.#wide[0]!), this.#scene.keys[0]!, url);
  }

  async #pay(body: string, key: string, url = this.#balancer.url): Promise<void> {
    const began = performance.now();
    const { status, text, version } = await this.#untilAnswered({ body, key }, url);
    const at = performance.now();
    this.slowestMs = Math.max(this.slowestMs, at - began);
    if (status === 200) this.answers.push({ body, key, text, version, at });
    else if (!this.#gaveUp(status)) this.wrong.push(`${version} answered a payment with ${status} ${text}`);
  }

  async #repeat(one: Answer): Promise<void> {
    const { status, text, version } = await this.#untilAnswered(one);
    if (status === 503 && (this.#tolerance.mayRefuse?.(one, version) || this.#gaveUp(status))) return;
    if (status !== 200 || text !== one.text) this.wrong.push(`a repeat got ${status} ${text} and not ${one.text}`);
  }

  /** Whether the clients were stopped while the database was away. */
  #gaveUp(status: number): boolean {
    return this.#tolerance.outages === true && this.#stopped && status === 503;
  }

  async #untilAnswered({ body, key }: Request, url = this.#balancer.url): Promise<Reply> {
    for (;;) {
      const reply = await this.#post(url, body, key);
      if (reply.status !== 503 || !this.#tolerance.outages || this.#stopped) return reply;
      await pause(AGAIN_MS);
    }
  }

  async #post(url: string, body: string, key: string): Promise<Reply> {
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const reply = await fetch(url + AUTHORIZE, { method: "POST", headers, body, signal });
    return { status: reply.status, text: await reply.text(), version: reply.headers.get(ANSWERED_BY) ?? "no process" };
  }
}
