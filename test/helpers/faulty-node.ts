import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export type NodeFault = "refuse" | "hang" | "nonsense";

/** The time after which the connection of a single hanging call is closed. */
const HANGS_MS = 500;

/** A proxy in front of a chain's node. It fails one chosen call, or leaves all calls from a chosen one on without an answer. */
export class FaultyNode {
  readonly #server: Server;
  readonly #rpcUrl: string;
  #calls = 0;
  #at = 0;
  #kind: NodeFault = "refuse";
  #forGood = false;
  #after: string | null = null;

  private constructor(rpcUrl: string) {
    this.#rpcUrl = rpcUrl;
    this.#server = createServer((request, response) => {
      const at = ++this.#calls;
      const struck = this.#at > 0 && (this.#forGood ? at >= this.#at : at === this.#at);
      void text(request).then(async (body) => {
        if (struck) return this.#fail(body, response);
        await this.#pass(body, response);
        if (this.#after !== null && body.includes(this.#after)) this.hangFrom(1);
      });
    });
  }

  static async before(rpcUrl: string): Promise<FaultyNode> {
    const node = new FaultyNode(rpcUrl);
    await new Promise<void>((done) => node.#server.listen(0, "127.0.0.1", done));
    return node;
  }

  get rpcUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The number of calls since a fault was last set or removed. */
  get calls(): number {
    return this.#calls;
  }

  failAt(call: number, kind: NodeFault): void {
    this.#calls = 0;
    this.#at = call;
    this.#kind = kind;
    this.#forGood = false;
    this.#after = null;
  }

  hangFrom(call: number): void {
    this.failAt(call, "hang");
    this.#forGood = true;
  }

  /** Passes calls on until one with this method was answered. After that, no call is answered. */
  hangAfter(method: string): void {
    this.mend();
    this.#after = `"${method}"`;
  }

  mend(): void {
    this.failAt(0, "refuse");
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #pass(body: string, response: ServerResponse): Promise<void> {
    try {
      const reply = await fetch(this.#rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body });
      response.writeHead(reply.status, { "content-type": "application/json" }).end(await reply.text());
    } catch {
      response.destroy();
    }
  }

  #fail(body: string, response: ServerResponse): void {
    if (this.#kind === "hang") {
      if (!this.#forGood) setTimeout(() => response.destroy(), HANGS_MS);
      return;
    }
    if (this.#kind === "refuse") return void response.destroy();
    const asked = JSON.parse(body) as { id: number } | { id: number }[];
    const nonsense = [asked].flat().map(({ id }) => ({ jsonrpc: "2.0", id, result: "nonsense" }));
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(Array.isArray(asked) ? nonsense : nonsense[0]));
  }
}
