import { connect, createServer, type AddressInfo, type Socket } from "node:net";

type Trap = { readonly text: string; readonly sprung: () => void };

/** A TCP proxy between clients and a server on this machine. The test decides what goes wrong in it. */
export class Link {
  readonly #sockets = new Set<Socket>();
  readonly #server;
  #refusing = false;
  #frozen = false;
  #delayMs = 0;
  #answerBytes = Infinity;
  #trap: Trap | null = null;
  /** leaveHalfOpen() adds one. Connections that were opened at a lower age no longer pass data on. */
  #age = 0;

  #target: { readonly host: string; readonly port: number };

  private constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#accept(client));
  }

  static async to(url: string): Promise<Link> {
    const { hostname, port } = new URL(url);
    const link = new Link({ host: hostname, port: Number(port) });
    await new Promise<void>((resolve) => link.#server.listen(0, "127.0.0.1", resolve));
    return link;
  }

  /** `url` with this proxy's host and port. */
  through(url: string): string {
    const own = new URL(url);
    own.hostname = "127.0.0.1";
    own.port = String((this.#server.address() as AddressInfo).port);
    // A URL without a slash at the end must not get one.
    return url.endsWith("/") ? own.href : own.href.replace(/\/$/, "");
  }

  /** New connections go to this server; open ones stay where they are. */
  lead(url: string): void {
    const { hostname, port } = new URL(url);
    this.#target = { host: hostname, port: Number(port) };
  }

  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** Ends all connections and refuses new ones, as if the server had died. */
  cut(): void {
    this.#refusing = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Drops all data without closing connections, as if the host had lost power. */
  freeze(): void {
    this.#frozen = true;
  }

  /** Open connections stay open but no longer pass data on. New connections work. */
  leaveHalfOpen(): void {
    this.#age += 1;
  }

  delay(milliseconds: number): void {
    this.#delayMs = milliseconds;
  }

  /** Each connection ends after this many bytes of answers. */
  cutAfter(answerBytes: number): void {
    this.#answerBytes = answerBytes;
    this.reset();
  }

  mend(): void {
    this.#answerBytes = Infinity;
    this.#refusing = false;
    this.#frozen = false;
    this.#delayMs = 0;
    this.#trap = null;
  }

  /** After a client has sent this text, drops the answers on its connection. Resolves when the text was sent. */
  swallowAfter(text: string): Promise<void> {
    return new Promise((sprung) => void (this.#trap = { text, sprung }));
  }

  close(): void {
    this.cut();
    this.#server.close();
  }

  #accept(client: Socket): void {
    if (this.#refusing) return void client.destroy();
    const upstream = connect(this.#target.port, this.#target.host);
    const age = this.#age;
    let mute = false;
    const carries = (): boolean => !this.#frozen && age === this.#age;
    const pass = (from: Socket, to: Socket, look: (chunk: Buffer) => boolean): void => {
      this.#sockets.add(from);
      from.on("error", () => {});
      from.on("close", () => {
        this.#sockets.delete(from);
        if (carries()) to.destroy();
      });
      from.on("end", () => carries() && to.end());
      from.on("data", (chunk) => {
        if (!carries() || !look(chunk)) return;
        if (this.#delayMs === 0) to.write(chunk);
        else setTimeout(() => to.write(chunk), this.#delayMs);
      });
    };
    pass(client, upstream, (chunk) => {
      if (this.#trap && chunk.includes(this.#trap.text)) {
        mute = true;
        this.#trap.sprung();
        this.#trap = null;
      }
      return true;
    });
    let answered = 0;
    pass(upstream, client, (chunk) => {
      const room = this.#answerBytes - answered;
      answered += chunk.length;
      if (chunk.length <= room) return !mute;
      client.write(chunk.subarray(0, Math.max(0, room)), () => client.destroy());
      return false;
    });
  }
}
