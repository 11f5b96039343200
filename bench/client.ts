import { connect, type Socket } from "node:net";

/** The parts of a POST request that are the same for every request of a connection. */
export type Target = { readonly port: number; readonly path: string; readonly headers: Readonly<Record<string, string>> };

type Reply = { readonly status: number; readonly body: string };

/** A keep-alive connection that sends one request at a time. It uses little CPU time, so that more is left for the server. */
export class Connection {
  readonly #socket: Socket;
  readonly #head: string;
  #received: Buffer = Buffer.alloc(0);
  #waiting: { resolve: (reply: Reply) => void; reject: (error: Error) => void } | null = null;

  private constructor(socket: Socket, { port, path, headers }: Target) {
    this.#socket = socket;
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.#head = `POST ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\n${lines.join("")}`;
    socket.on("data", (chunk) => this.#read(chunk));
    socket.on("error", (error) => this.#waiting?.reject(error));
    socket.on("close", () => this.#waiting?.reject(new Error("The server closed the connection.")));
  }

  static async open(target: Target): Promise<Connection> {
    const socket = connect({ host: "127.0.0.1", port: target.port, noDelay: true });
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new Connection(socket, target);
  }

  /** `header` is a line of its own, with its end. */
  send(body: string, header = ""): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(`${this.#head}${header}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const end = this.#received.indexOf("\r\n\r\n");
    if (end < 0) return;
    const head = this.#received.toString("latin1", 0, end);
    const length = /content-length: (\d+)/i.exec(head);
    const body = length ? this.#received.subarray(end + 4) : dechunk(this.#received.subarray(end + 4));
    if (body === null || (length && body.length < Number(length[1]))) return;
    this.#received = Buffer.alloc(0);
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve({ status: Number(head.slice(9, 12)), body: body.toString() });
  }
}

/** Returns the body of a reply in chunked encoding, or null until the last, empty chunk has arrived. */
function dechunk(received: Buffer): Buffer | null {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const end = received.indexOf("\r\n", at);
    if (end < 0) return null;
    const size = Number.parseInt(received.toString("latin1", at, end), 16);
    if (Number.isNaN(size)) throw new Error("The server sent a chunk without a size.");
    const next = end + 2 + size + 2;
    if (received.length < next) return null;
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(received.subarray(end + 2, end + 2 + size));
    at = next;
  }
}
