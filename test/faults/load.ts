import { setTimeout as pause } from "node:timers/promises";
import { acts, authorize, pay, readSession, type Act, type Random } from "./acts.ts";
import type { Installation, Node } from "./installation.ts";
import { setScene, type Scene } from "./scene.ts";
import { Wire } from "./wire.ts";
import { random as seeded } from "#test/random.ts";

/** The clients of the service: agents and people that go on whatever happens. */
export class Load {
  readonly wire = new Wire();
  readonly scene: Scene;
  readonly #on: Installation;
  #random: Random = seeded(1);
  #stopped = false;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(on: Installation, scene: Scene) {
    this.#on = on;
    this.scene = scene;
  }

  static prepare = async (on: Installation): Promise<Load> => new Load(on, await setScene(on));

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
    const left = [...this.wire.acknowledged];
    const client = async (at: number): Promise<void> => {
      for (let one = left.pop(); one; one = left.pop()) await this.wire.repeat(this.#on.nodes[at % 2]!, one, true);
    };
    await Promise.all(Array.from({ length: 16 }, (_, at) => client(at)));
  }

  /**
   * Sends an authorize request, a payment (authorize and execute) and a read of a session to a server. Null if all succeed, or
   * else a description of the failures.
   */
  async probe(node: Node): Promise<string | null> {
    const asked: Readonly<Record<string, Act>> = { authorize, pay, "read the session": readSession };
    const replies = Object.entries(asked).map(async ([name, act]) => {
      const { status, text } = await this.#act(act, node, this.#random).catch((error: unknown) => ({
        status: 0,
        text: String(error),
      }));
      return status === 200 ? [] : [`${name} ${status} ${text.slice(0, 200)}`];
    });
    const failed = (await Promise.all(replies)).flat();
    return failed.length === 0 ? null : failed.join("; ");
  }

  ready = async (node: Node): Promise<boolean> => (await fetch(`${node.server.url}/api/v1/health/ready`)).status === 200;

  #act(act: Act, node: Node, random: Random) {
    return act({ wire: this.wire, scene: this.scene, node, random });
  }

  async #client(at: number, random: Random): Promise<void> {
    const node = this.#on.nodes[at % this.#on.nodes.length]!;
    while (!this.#stopped) {
      try {
        let drawn = random() * 100;
        const [, act] = acts.find(([share]) => (drawn -= share) < 0) ?? acts[0]!;
        const { status } = await this.#act(act, node, random);
        if (status === 0) await pause(100);
      } catch (error) {
        this.wire.unanswered(error);
        await pause(100);
      }
    }
  }
}
