import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";
import type { Installation, Node } from "#test/faults/installation.ts";
import { newIntent } from "#test/asking.ts";
import { activeMandate, assets, createBuyer, type Buyer } from "#test/mandates.ts";
import { expectedOf, newWallet, paymentScene, signed, type PaymentScene } from "#test/payments.ts";
import { random as seeded } from "#test/random.ts";

/** Milliseconds until a request counts as unanswered. The service's own time limit for a request is shorter: 30 seconds. */
const PATIENCE_MS = 36_000;

/**
 * The number of mandates under which payments are only authorized. Under as many others, payments are authorized and executed.
 */
const MANDATES = 8;

/** The replies that may come: 200, and because of a fault 503, or 502 if a payment needs the chain. */
const expected: ReadonlySet<string> = new Set([
  ...["authorize", "execute", "session", "repeat"].flatMap((what) => [`${what} 200`, `${what} 503`]),
  "execute 502",
]);

type Random = () => number;
export type Reply = { readonly status: number; readonly text: string };
type Acknowledgement = {
  readonly path: string;
  readonly as: Readonly<Record<string, string>>;
  readonly body: string;
  readonly text: string;
};

/** The result of a run. `wrong` has a description of each violation. */
export type Findings = {
  readonly wrong: string[];
  readonly statuses: Map<string, number>;
  readonly acknowledged: Acknowledgement[];
};

async function send({ server }: Node, path: string, as: Readonly<Record<string, string>>, body?: string): Promise<Reply> {
  const response = await fetch(server.url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...as },
    ...(body !== undefined && { body }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return { status: response.status, text: await response.text() };
}

export class Load {
  readonly findings: Findings = { wrong: [], statuses: new Map(), acknowledged: [] };
  readonly #on: Installation;
  readonly #buyer: Buyer;
  readonly #mandateIds: readonly string[];
  readonly #scene: PaymentScene;
  /** The mandates under which payments are executed, in turn. */
  readonly #payingMandateIds: readonly string[];
  #executions = 0;
  readonly #wallet = newWallet();
  #random: Random = seeded(1);
  #stopped = false;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(
    on: Installation,
    buyer: Buyer,
    mandateIds: readonly string[],
    scene: PaymentScene,
    paying: readonly string[],
  ) {
    this.#on = on;
    this.#buyer = buyer;
    this.#mandateIds = mandateIds;
    this.#scene = scene;
    this.#payingMandateIds = paying;
  }

  static async prepare(on: Installation): Promise<Load> {
    const buyer = await createBuyer();
    const policy = { assets, limits: { perPayment: "1", total: "10000000" } };
    const scene = await paymentScene({ settlementMode: "facilitatorSettled", price: "0.01", mandate: { policy } });
    const mandatesOf = ({ person }: Pick<Buyer, "person">): Promise<string[]> =>
      Promise.all(Array.from({ length: MANDATES }, () => activeMandate(person.credential, { policy })));
    const load = new Load(on, buyer, await mandatesOf(buyer), scene, await mandatesOf(scene));
    await on.chain().mint(load.#wallet.address, 1_000_000_000n);
    return load;
  }

  /** The seller's balance on the chain, in atomic units. */
  paid(): Promise<bigint> {
    return this.#on.chain().balanceOf(this.#scene.seller.payTo);
  }

  /** Starts the clients. Each has its own random numbers, so that they do not depend on the order of the replies. */
  run(connections: number, random: Random): void {
    const stream = (): Random => seeded(Math.floor(random() * 2 ** 32));
    this.#random = stream();
    const streams = Array.from({ length: connections }, stream);
    this.#running = Promise.all(streams.map((own, at) => this.#client(at, own)));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  /** Repeats every acknowledged request. Each must get the same bytes again. */
  async repeatAll(): Promise<void> {
    const left = [...this.findings.acknowledged];
    const client = async (at: number): Promise<void> => {
      for (let one = left.pop(); one; one = left.pop()) await this.#repeat(this.#on.nodes[at % 2]!, one, true);
    };
    await Promise.all(Array.from({ length: 16 }, (_, at) => client(at)));
  }

  /**
   * Sends an authorize request, a payment (authorize and execute) and a read of a session to a server. Null if all succeed, or
   * else a description of the failures.
   */
  async probe(node: Node): Promise<string | null> {
    const asked = [this.#authorize(node, this.#random), this.#execute(node), this.#session(node)] as const;
    const replies = await Promise.all(
      asked.map((reply) => reply.catch((error: unknown) => ({ status: 0, text: String(error) }))),
    );
    const failed = replies.flatMap(({ status, text }, at) =>
      status === 200 ? [] : [`${["authorize", "execute", "session"][at]} ${status} ${text.slice(0, 200)}`],
    );
    return failed.length === 0 ? null : failed.join("; ");
  }

  ready = async (node: Node): Promise<boolean> => (await send(node, "/api/v1/health/ready", {})).status === 200;

  async #client(at: number, random: Random): Promise<void> {
    const node = this.#on.nodes[at % this.#on.nodes.length]!;
    while (!this.#stopped) {
      const kind = random();
      try {
        if (kind < 0.6) await this.#authorize(node, random);
        else if (kind < 0.75) await this.#repeatSome(random);
        else if (kind < 0.9) await this.#session(node);
        else await this.#execute(node);
      } catch (error) {
        this.findings.wrong.push(`no answer: ${inspect(error)}`);
        await pause(100);
      }
    }
  }

  /** Counts a reply. If no fault can explain its status, this is a violation. */
  #note(what: string, reply: Reply): Reply {
    const name = `${what} ${reply.status}`;
    this.findings.statuses.set(name, (this.findings.statuses.get(name) ?? 0) + 1);
    if (!expected.has(name)) this.findings.wrong.push(`${name}: ${reply.text}`);
    return reply;
  }

  async #authorize(node: Node, random: Random): Promise<Reply> {
    const as = this.#buyer.agent.credential;
    const mandateId = this.#mandateIds[Math.floor(random() * this.#mandateIds.length)];
    const body = JSON.stringify({ mandateId, intent: newIntent(this.#buyer, { amount: "0.01" }) });
    const path = "/api/v1/payments/authorize";
    const reply = this.#note("authorize", await send(node, path, as, body));
    if (reply.status === 200) this.findings.acknowledged.push({ path, as, body, text: reply.text });
    return reply;
  }

  async #execute(node: Node): Promise<Reply> {
    const name = `x-${crypto.randomUUID()}`;
    const as = this.#scene.agent.credential;
    const { seller } = this.#scene;
    const mandateId = this.#payingMandateIds[this.#executions++ % MANDATES]!;
    const expiresAt = new Date(Date.now() + 600_000).toISOString();
    const intent = { intentId: name, nonce: name, idempotencyKey: name, expiresAt, amount: seller.price, asset: "USDC" };
    const asked = { ...intent, seller: { sellerId: seller.sellerId }, resource: { resourceId: seller.resourceId } };
    const allowed = this.#note(
      "authorize",
      await send(node, "/api/v1/payments/authorize", as, JSON.stringify({ mandateId, intent: asked })),
    );
    if (allowed.status !== 200) return allowed;
    const { authorizationId } = JSON.parse(allowed.text) as { authorizationId: string };
    const paymentCredential = await signed(this.#wallet, expectedOf(this.#scene));
    const body = JSON.stringify({ authorizationId, idempotencyKey: `${name}-pay`, paymentCredential });
    return this.#note("execute", await send(node, "/api/v1/payments/execute", as, body));
  }

  async #session(node: Node): Promise<Reply> {
    return this.#note("session", await send(node, "/api/v1/auth/session", this.#buyer.person.credential));
  }

  async #repeatSome(random: Random): Promise<void> {
    const { acknowledged } = this.findings;
    const one = acknowledged[Math.floor(random() * acknowledged.length)];
    if (one) await this.#repeat(this.#on.nodes[Math.floor(random() * 2)]!, one, false);
  }

  async #repeat(node: Node, { path, as, body, text }: Acknowledgement, must: boolean): Promise<void> {
    const reply = this.#note("repeat", await send(node, path, as, body));
    if (reply.status === 200 && reply.text !== text) this.findings.wrong.push(`a repeat differs: ${reply.text} and ${text}`);
    if (reply.status !== 200 && must) this.findings.wrong.push(`a repeat was answered with ${reply.status}: ${reply.text}`);
  }
}
