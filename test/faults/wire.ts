import { inspect } from "node:util";
import type { Node } from "./installation.ts";

/** Milliseconds until a request counts as unanswered. The service's own time limit for a request is shorter: 30 seconds. */
const PATIENCE_MS = 36_000;

/** Beside these statuses of each kind of request, 503 may come in a fault. 0 means that the server died before it answered. */
const expected: Readonly<Record<string, readonly number[]>> = {
  authorize: [200],
  tight: [200],
  execute: [200, 502],
  session: [200],
  repeat: [200, 502],
  "create a mandate": [201],
  "activate a mandate": [200],
  "revoke a mandate": [200],
  // A revoked mandate cannot be suspended or changed, and a higher total needs a proof of identity.
  "suspend a mandate": [200, 409],
  "narrow a mandate": [200, 403, 409],
  "rotate a key": [200],
  "use a key": [200],
  "use a rotated key": [401],
  ask: [200],
  // Another client can have approved an equal request meanwhile, and the tries of a person are limited.
  "prove the identity": [200, 409, 429],
  approve: [200, 409, 428],
  order: [200, 409, 502],
  mcp: [200],
};

export type Headers = Readonly<Record<string, string>>;
export type Reply = { readonly status: number; readonly text: string };
export type Sent = { readonly path: string; readonly as: Headers; readonly body?: string; readonly method?: string };

/** A success that the service may never forget, with what must be repeated byte for byte. */
export type Acknowledged = Sent & { readonly body: string; readonly text: string };

/** Sends the requests of all clients and keeps what the service answered. `wrong` has a description of each violation. */
export class Wire {
  readonly wrong: string[] = [];
  readonly statuses = new Map<string, number>();
  readonly acknowledged: Acknowledged[] = [];

  async send(node: Node, what: string, { path, as, body, method = body === undefined ? "GET" : "POST" }: Sent): Promise<Reply> {
    const { server } = node;
    try {
      const response = await fetch(server.url + path, {
        method,
        headers: { ...(body !== undefined && { "content-type": "application/json" }), ...as },
        ...(body !== undefined && { body }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      return this.#note(what, { status: response.status, text: await response.text() });
    } catch (error) {
      if (node.server === server && !node.isDown) throw error;
      return this.#note(what, { status: 0, text: "" });
    }
  }

  async repeat(node: Node, one: Acknowledged, must: boolean): Promise<void> {
    const { status, text } = await this.send(node, "repeat", one);
    if (status === 200 && text !== one.text) this.wrong.push(`a repeat differs: ${text} and ${one.text}`);
    if (status !== 200 && must) this.wrong.push(`a repeat was answered with ${status}: ${text}`);
  }

  unanswered(error: unknown): void {
    this.wrong.push(`no answer: ${inspect(error)}`);
  }

  /** Counts a reply. If no fault can explain its status, this is a violation. */
  #note(what: string, reply: Reply): Reply {
    const name = `${what} ${reply.status}`;
    this.statuses.set(name, (this.statuses.get(name) ?? 0) + 1);
    if (reply.status !== 0 && reply.status !== 503 && !expected[what]?.includes(reply.status))
      this.wrong.push(`${name}: ${reply.text}`);
    return reply;
  }
}
