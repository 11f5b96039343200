import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** What goes wrong in a session when it receives its n-th message. The start-up packet is message 0. */
export type Fault = {
  readonly at: number;
  readonly how:
    | "reset"
    | "close"
    | "silence"
    | "delay"
    | "starting"
    | "refuse a parameter"
    | "terminate"
    | "cancel"
    | "answer and reset"
    | "act and reset"
    | "act and close"
    | "act and fall silent"
    | "half an answer and reset";
  /** The milliseconds of a delay. */
  readonly ms?: number;
};

/** The fault of a session. `null`: no fault. "refuse": the connection is closed before the session begins. */
export type Script = Fault | "refuse" | null;

const text = (value: string): Buffer => Buffer.from(`${value}\0`);
const int16 = (value: number): Buffer => Buffer.from([value >> 8, value & 255]);
const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};

function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

const column = (name: string, type: number): Buffer =>
  Buffer.concat([int16(1), text(name), int32(0), int16(0), int32(type), int16(-1), int32(-1), int16(0)]);

const refusal = (severity: string, code: string): Buffer =>
  message("E", text(`S${severity}`), text(`V${severity}`), text(`C${code}`), text(`M${code}`), Buffer.from([0]));

const rowOf = (value: string): Buffer => message("D", int16(1), int32(Buffer.byteLength(value)), Buffer.from(value));

/** The answer to a statement: the command tag, and a row of one column, or no row if `value` is null. */
type Answer = { readonly name: string; readonly type: number; readonly value: string | null; readonly tag: string };

/**
 * The fake server understands only the statements with which the service begins a connection, BEGIN, COMMIT, ROLLBACK, and this
 * read and write with one parameter.
 */
export const READ = "SELECT $1::text AS echo";
export const WRITE = "INSERT INTO written VALUES ($1)";

/** A server with the part of PostgreSQL's protocol that the tests need. Each session fails as its script says. */
export class FakePostgres {
  readonly committed = new Set<string>();
  /** Must stay empty: statements of one caller in the transaction of another, and each BEGIN inside of a transaction. */
  readonly violations: string[] = [];
  readonly #server: Server;
  readonly #scripts: Script[];
  readonly #sockets = new Set<Socket>();

  private constructor(scripts: readonly Script[]) {
    this.#scripts = [...scripts];
    this.#server = createServer((socket) => this.#accept(socket));
  }

  static async start(scripts: readonly Script[]): Promise<FakePostgres> {
    const fake = new FakePostgres(scripts);
    await new Promise<void>((done) => fake.#server.listen(0, "127.0.0.1", done));
    return fake;
  }

  get url(): string {
    return `postgres://somebody@127.0.0.1:${(this.#server.address() as AddressInfo).port}/fake`;
  }

  get open(): number {
    return this.#sockets.size;
  }

  /** After this call, new sessions have no fault. */
  heal(): void {
    this.#scripts.length = 0;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((done) => this.#server.close(done));
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => this.#sockets.delete(socket));
    const script = this.#scripts.shift() ?? null;
    if (script === "refuse") return void socket.destroy();
    new Session(this, socket, script).start();
  }
}

class Session {
  readonly #fake: FakePostgres;
  readonly #socket: Socket;
  readonly #fault: Fault | null;
  #buffer = Buffer.alloc(0);
  #count = 0;
  #begun = false;
  #silent = false;
  #failed = false;
  #cancelled = false;
  /** The values that the open transaction wrote, null if none is open; and the caller whose statements it contains. */
  #pending: string[] | null = null;
  #caller: string | null = null;
  #statement = "";
  #parameter: string | null = "";
  readonly #named = new Map<string, string>();

  constructor(fake: FakePostgres, socket: Socket, fault: Fault | null) {
    this.#fake = fake;
    this.#socket = socket;
    this.#fault = fault;
  }

  start(): void {
    this.#socket.on("data", (chunk) => {
      this.#buffer = Buffer.concat([this.#buffer, chunk]);
      void this.#read();
    });
  }

  #reading = false;

  async #read(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    for (;;) {
      const fault = this.#fault;
      const head = this.#begun ? 1 : 0;
      if (this.#silent || this.#buffer.length < head + 4) break;
      const length = head + this.#buffer.readInt32BE(head);
      if (this.#buffer.length < length) break;
      const received = this.#buffer.subarray(0, length);
      this.#buffer = this.#buffer.subarray(length);
      const due = fault?.at === this.#count;
      this.#count += 1;
      if (fault && due) await this.#fail(fault.how, received);
      else this.#send(this.#process(received));
    }
    this.#reading = false;
  }

  #send(bytes: Buffer): void {
    if (bytes.length > 0 && !this.#socket.destroyed) this.#socket.write(bytes);
  }

  async #fail(how: Fault["how"], received: Buffer): Promise<void> {
    const stop = (): void => void (this.#silent = true);
    switch (how) {
      case "delay":
        await new Promise((resolve) => setTimeout(resolve, this.#fault?.ms ?? 20));
        return this.#send(this.#process(received));
      case "cancel":
        this.#cancelled = true;
        return this.#send(this.#process(received));
      case "answer and reset":
        this.#send(this.#process(received));
        stop();
        return void setImmediate(() => this.#socket.resetAndDestroy());
      case "half an answer and reset":
        this.#send(this.#process(received).subarray(0, 7));
        stop();
        return void setImmediate(() => this.#socket.resetAndDestroy());
      case "act and reset":
      case "act and close":
      case "act and fall silent":
        this.#process(received);
        break;
      case "terminate":
      case "starting":
      case "refuse a parameter":
        this.#send(refusal("FATAL", { terminate: "57P01", starting: "57P03", "refuse a parameter": "08P01" }[how]));
        break;
      case "reset":
      case "close":
      case "silence":
        break;
    }
    stop();
    if (how.endsWith("reset")) this.#socket.resetAndDestroy();
    else if (!how.endsWith("silence") && !how.endsWith("silent")) this.#socket.end();
  }

  #process(received: Buffer): Buffer {
    if (!this.#begun) {
      this.#begun = true;
      return Buffer.concat([message("R", int32(0)), message("K", int32(1), int32(2)), this.#ready()]);
    }
    const body = received.subarray(5);
    switch (String.fromCharCode(received[0]!)) {
      case "Q":
        return Buffer.concat([...this.#run(body.toString("utf8", 0, body.length - 1), null), this.#ready()]);
      case "P":
        return this.#parse(body);
      case "D":
        return this.#describe(body.toString("utf8", 1, body.length - 1));
      case "B":
        return this.#bind(body);
      case "E":
        return Buffer.concat(this.#run(this.#statement, this.#parameter, true));
      case "S":
        this.#failed = false;
        return this.#ready();
      case "X":
        this.#socket.end();
        return Buffer.alloc(0);
      default:
        return Buffer.alloc(0);
    }
  }

  #ready(): Buffer {
    return message("Z", Buffer.from(this.#pending ? "T" : "I"));
  }

  #parse(body: Buffer): Buffer {
    const end = body.indexOf(0);
    this.#named.set(body.toString("utf8", 0, end), body.toString("utf8", end + 1, body.indexOf(0, end + 1)));
    return message("1");
  }

  #describe(name: string): Buffer {
    const reads = this.#named.get(name)?.startsWith("SELECT") === true;
    return Buffer.concat([message("t", int16(1), int32(25)), reads ? message("T", column("echo", 25)) : message("n")]);
  }

  #bind(body: Buffer): Buffer {
    const portalEnd = body.indexOf(0);
    const nameEnd = body.indexOf(0, portalEnd + 1);
    this.#statement = this.#named.get(body.toString("utf8", portalEnd + 1, nameEnd)) ?? "";
    const count = body.readInt16BE(nameEnd + 3);
    const length = count === 0 ? 0 : body.readInt32BE(nameEnd + 5);
    this.#parameter = count === 0 ? null : body.toString("utf8", nameEnd + 9, nameEnd + 9 + length);
    return message("2");
  }

  #run(statement: string, parameter: string | null, described = false): Buffer[] {
    if (this.#failed) return [];
    if (this.#cancelled) {
      this.#cancelled = false;
      this.#failed = described;
      if (this.#pending) this.#aborted = true;
      return [refusal("ERROR", "57014")];
    }
    if (this.#aborted && !/^(COMMIT|ROLLBACK)/.test(statement)) {
      this.#failed = described;
      return [refusal("ERROR", "25P02")];
    }
    const { name, type, value, tag } = this.#carryOut(statement, parameter);
    return [
      ...(value === null ? [] : [...(described ? [] : [message("T", column(name, type))]), rowOf(value)]),
      message("C", text(tag)),
    ];
  }

  #aborted = false;

  #carryOut(statement: string, parameter: string | null): Answer {
    const done = (tag: string): Answer => ({ name: "", type: 25, value: null, tag });
    if (parameter !== null) this.#see(parameter.split(" ")[0]!);
    if (statement === READ) return { name: "echo", type: 25, value: parameter ?? "", tag: "SELECT 1" };
    if (statement === WRITE) {
      if (this.#pending) this.#pending.push(parameter!);
      else this.#fake.committed.add(parameter!);
      return done("INSERT 0 1");
    }
    if (statement.startsWith("SELECT pg_is_in_recovery")) return { name: "standby", type: 16, value: "f", tag: "SELECT 1" };
    if (statement.includes("pg_settings")) return { name: "held", type: 16, value: "f", tag: "SELECT 1" };
    if (statement === "BEGIN" && this.#pending) this.#fake.violations.push("BEGIN inside of a transaction");
    const committed = statement === "COMMIT" && !this.#aborted;
    if (committed) for (const value of this.#pending ?? []) this.#fake.committed.add(value);
    this.#pending = statement === "BEGIN" ? [] : null;
    this.#aborted = false;
    this.#caller = null;
    return done(statement === "COMMIT" && !committed ? "ROLLBACK" : statement);
  }

  #see(caller: string): void {
    if (!this.#pending) return;
    if (this.#caller !== null && this.#caller !== caller)
      this.#fake.violations.push(`${caller} in the transaction of ${this.#caller}`);
    this.#caller = caller;
  }
}
