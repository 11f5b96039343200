import { execFile, spawn } from "node:child_process";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { whenEnded } from "#test/when-ended.ts";

const run = promisify(execFile);
const ip = (...words: readonly string[]) => run("ip", words);

/** A network of this machine alone, with a name and addresses of its own. */
export class Network {
  readonly #bridge = `drill${process.pid}`;
  /** In the block for tests of networks (RFC 2544). */
  readonly #prefix = `198.18.${process.pid % 250}`;
  #keep: () => void = () => {};

  static async open(): Promise<Network> {
    const network = new Network();
    const bridge = network.#bridge;
    await ip("link", "add", bridge, "type", "bridge");
    network.#keep = whenEnded("ip", "link", "del", bridge);
    await ip("address", "add", `${network.#prefix}.1/24`, "dev", bridge);
    await ip("link", "set", bridge, "up");
    return network;
  }

  /** Adds a machine: a namespace whose only way out is a cable to the bridge. */
  async add(number: number, folder: string): Promise<Machine> {
    const [space, cable, address] = [`${this.#bridge}-${number}`, `${this.#bridge}p${number}`, `${this.#prefix}.${10 + number}`];
    await ip("netns", "add", space);
    const keep = whenEnded(
      "sh",
      "-c",
      `while [ "$(ip netns pids ${space})" ]; do ip netns pids ${space} | xargs kill -9; done; ip link del ${cable}; ip netns del ${space}`,
    );
    await ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", space);
    await ip("-n", space, "address", "add", `${address}/24`, "dev", "eth0");
    for (const device of ["lo", "eth0"]) await ip("-n", space, "link", "set", device, "up");
    await ip("link", "set", cable, "master", this.#bridge);
    await ip("link", "set", cable, "up");
    return new Machine({ bridge: this.#bridge, space, cable, address, folder, keep });
  }

  async close(): Promise<void> {
    await ip("link", "del", this.#bridge);
    this.#keep();
  }
}

type Parts = {
  readonly space: string;
  readonly bridge: string;
  readonly cable: string;
  readonly address: string;
  readonly folder: string;
  readonly keep: () => void;
};

export class Machine {
  readonly address: string;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    [this.#parts, this.address] = [parts, parts.address];
  }

  /** Starts a program of Debian, as its account of PostgreSQL. What it says goes to a file with its name. */
  async start(name: string, command: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<void> {
    const { space, folder } = this.#parts;
    const log = await open(join(folder, `${name}.log`), "a");
    const words = ["netns", "exec", space, "runuser", "-u", "postgres", "--", ...command];
    const child = spawn("ip", words, {
      cwd: "/",
      env: { ...process.env, ...environment },
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
    });
    child.unref();
    await log.close();
  }

  async kill(): Promise<void> {
    const pids = async (): Promise<string[]> => (await ip("netns", "pids", this.#parts.space)).stdout.split("\n").filter(Boolean);
    for (let left = await pids(); left.length > 0; left = await pids()) await run("kill", ["-9", ...left]).catch(() => {});
  }

  /** Drops every packet from and to it, while both ends of its cable stay up. */
  async silence(): Promise<void> {
    await ip("link", "set", this.#parts.cable, "nomaster");
  }

  async hear(): Promise<void> {
    await ip("link", "set", this.#parts.cable, "master", this.#parts.bridge);
  }

  async close(): Promise<void> {
    await this.kill();
    // Connections that nobody closes any more keep the namespace for a while.
    await ip("link", "del", this.#parts.cable);
    await ip("netns", "del", this.#parts.space);
    this.#parts.keep();
  }
}
