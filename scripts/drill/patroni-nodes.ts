import { execFile, spawn } from "node:child_process";
import { chmod, mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import postgres from "postgres";
import { freePort } from "#test/free-port.ts";
import { whenEnded } from "#test/when-ended.ts";
import { Network, type Machine } from "./machine.ts";
import type { Nodes, Way } from "./nodes.ts";

const run = promisify(execFile);
const names = ["one", "two", "three"];
const PASSWORD = "of-the-drill";
const LIMIT_MS = 120_000;
/** Patroni 3 waits long for a checkpoint of the new primary before it rewinds a member, and rewinds no standby that is ahead. */
const REWIND_MS = 40_000;

/** A machine with PostgreSQL 15, Patroni, and a member of etcd. */
class Member {
  readonly name: string;
  readonly machine: Machine;
  readonly #folder: string;
  readonly #all: readonly string[];

  constructor(name: string, machine: Machine, folder: string, all: readonly string[]) {
    [this.name, this.machine, this.#folder, this.#all] = [name, machine, folder, all];
  }

  get url(): string {
    return `postgres://countersign:${PASSWORD}@${this.machine.address}:5432/postgres`;
  }

  /** Whether it has the lock of the leader and, as Patroni asks PostgreSQL, takes writes. */
  async isPrimary(): Promise<boolean> {
    const reply = await fetch(`http://${this.machine.address}:8008/primary`, { signal: AbortSignal.timeout(1_000) }).catch(
      () => null,
    );
    const { role } = ((await reply?.json().catch(() => null)) ?? {}) as { readonly role?: string };
    return reply?.status === 200 && role === "master";
  }

  async #ask<T extends object>(statement: string): Promise<T | undefined> {
    const sql = postgres(this.url, { max: 1, onnotice: () => {}, connect_timeout: 2 });
    try {
      return (await sql.unsafe<T[]>(statement))[0];
    } finally {
      await sql.end();
    }
  }

  /** Whether it replays what the primary sends, or is the primary. */
  async isInStep(): Promise<boolean> {
    const row = await this.#ask<{ follows: boolean }>(`
      SELECT NOT pg_is_in_recovery() OR EXISTS (SELECT FROM pg_stat_wal_receiver WHERE status = 'streaming') AS follows`);
    return row?.follows === true;
  }

  /** Lets Patroni copy the primary anew, as an operator does if a member cannot be rewound. */
  async copyAnew(): Promise<void> {
    const body = JSON.stringify({ force: true });
    await fetch(`http://${this.machine.address}:8008/reinitialize`, {
      method: "POST",
      body,
      signal: AbortSignal.timeout(5_000),
    }).catch(() => null);
  }

  /** Two standbys follow, and Patroni has noted which of them has every commit. */
  async hasStandbys(): Promise<boolean> {
    const row = await this.#ask<{ following: number }>(`
      SELECT count(*)::int AS following FROM pg_stat_replication
      WHERE state = 'streaming' AND application_name IN ('${names.join("', '")}')`);
    const reply = await fetch(`http://${this.machine.address}:8008/cluster`);
    const { members } = (await reply.json()) as { readonly members: readonly { readonly role: string }[] };
    return row?.following === 2 && members.some(({ role }) => role === "sync_standby");
  }

  async start(): Promise<void> {
    const { address } = this.machine;
    const at = (port: number) => `http://${address}:${port}`;
    const cluster = names.map((name, index) => `${name}=http://${this.#all[index]}:2380`).join();
    const options = {
      name: this.name,
      "data-dir": join(this.#folder, "etcd"),
      "initial-cluster": cluster,
      // A member that comes back from silence would otherwise end the others' leader, and with it Patroni's.
      "pre-vote": true,
      "enable-v2": true,
      "listen-peer-urls": at(2380),
      "initial-advertise-peer-urls": at(2380),
      "listen-client-urls": at(2379),
      "advertise-client-urls": at(2379),
    };
    await this.machine.start("etcd", ["etcd", ...Object.entries(options).map(([name, value]) => `--${name}=${value}`)]);
    const file = join(this.#folder, "patroni.yml");
    await writeFile(file, JSON.stringify(this.#configuration, null, 2));
    await this.machine.start("patroni", ["patroni", file]);
  }

  /** YAML, of which JSON is a part. */
  get #configuration() {
    const { address } = this.machine;
    const parameters = {
      max_connections: 120,
      shared_buffers: "32MB",
      wal_keep_size: "512MB",
      wal_retrieve_retry_interval: "100ms",
      wal_receiver_timeout: "3s",
      wal_sender_timeout: "3s",
    };
    return {
      scope: "countersign",
      name: this.name,
      restapi: { listen: `${address}:8008`, connect_address: `${address}:8008` },
      // Through etcd's API of version 3, Patroni 3.0 believes a leader's key that it read before a silence, and two nodes are primaries.
      etcd: { hosts: this.#all.map((host) => `${host}:2379`) },
      bootstrap: {
        dcs: {
          ttl: 20,
          loop_wait: 1,
          retry_timeout: 8,
          synchronous_mode: true,
          synchronous_mode_strict: true,
          // The new primary has no slots for the others before Patroni's next turn, and its commits wait for them.
          postgresql: { use_pg_rewind: true, use_slots: false, parameters },
        },
        initdb: [{ encoding: "UTF8" }, { locale: "C.UTF-8" }, "data-checksums"],
        pg_hba: ["host replication all 0.0.0.0/0 scram-sha-256", "host all all 0.0.0.0/0 scram-sha-256"],
      },
      postgresql: {
        listen: `${address}:5432`,
        connect_address: `${address}:5432`,
        data_dir: join(this.#folder, "data"),
        bin_dir: "/usr/lib/postgresql/15/bin",
        pgpass: join(this.#folder, "pgpass"),
        parameters: { unix_socket_directories: this.#folder },
        authentication: {
          superuser: { username: "countersign", password: PASSWORD },
          replication: { username: "replicator", password: PASSWORD },
        },
      },
    };
  }
}

/** HAProxy on the machine of the service: it sends connections to the member that Patroni says is the primary. */
async function startProxy(folder: string, members: readonly Member[]): Promise<{ port: number; stop(): Promise<void> }> {
  const port = await freePort();
  const servers = members.map(({ name, machine: { address } }) => `  server ${name} ${address}:5432 check port 8008`);
  const configuration = `
defaults
  mode tcp
  timeout connect 1s
  timeout check 1s
  timeout client 30m
  timeout server 30m
listen primary
  bind 127.0.0.1:${port}
  option httpchk
  http-check send meth GET uri /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join("\n")}
`;
  const file = join(folder, "haproxy.cfg");
  await writeFile(file, configuration);
  const log = await open(join(folder, "haproxy.log"), "a");
  const child = spawn("haproxy", ["-db", "-f", file], { detached: true, stdio: ["ignore", log.fd, log.fd] });
  await log.close();
  const keep = whenEnded("kill", "-KILL", String(child.pid));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return {
    port,
    async stop() {
      child.kill("SIGKILL");
      await ended;
      keep();
    },
  };
}

/** Nodes of Debian's PostgreSQL 15, on which Patroni decides, on machines of their own network. */
export class PatroniNodes implements Nodes {
  /** Without the other members of etcd, Patroni lets the primary take no writes, and HAProxy finds none. */
  readonly withoutStandbys = /not ready: (database|.*Nothing can be saved)/;
  readonly #network: Network;
  readonly #members: readonly Member[];
  readonly #proxy: Awaited<ReturnType<typeof startProxy>>;
  #lost: readonly Member[] = [];
  #way: Way = "killed";

  private constructor(network: Network, members: readonly Member[], proxy: Awaited<ReturnType<typeof startProxy>>) {
    [this.#network, this.#members, this.#proxy] = [network, members, proxy];
  }

  static async make(folder: string): Promise<PatroniNodes> {
    await chmod(folder, 0o755);
    const network = await Network.open();
    const machines: [Machine, string][] = [];
    for (const [index, name] of names.entries()) {
      const own = join(folder, name);
      await mkdir(own);
      await run("chown", ["postgres", own]);
      machines.push([await network.add(index, own), own]);
    }
    const addresses = machines.map(([{ address }]) => address);
    const members = machines.map(([machine, own], index) => new Member(names[index]!, machine, own, addresses));
    const nodes = new PatroniNodes(network, members, await startProxy(folder, members));
    try {
      for (const member of members) await member.start();
      await nodes.#inStep();
      return nodes;
    } catch (error) {
      await nodes.close();
      throw error;
    }
  }

  get databaseUrl(): string {
    return `postgres://countersign:${PASSWORD}@127.0.0.1:${this.#proxy.port}/postgres`;
  }

  async primaryUrl(): Promise<string> {
    return (await this.#primary()).url;
  }

  async losePrimary(way: Way): Promise<number> {
    const lost = await this.#primary();
    await this.#lose([lost], way);
    await this.#primary();
    return performance.now();
  }

  async returnPrimary(): Promise<void> {
    await this.#return();
  }

  /** Patroni lets no old primary take writes. */
  oldPrimary = (): Promise<null> => Promise.resolve(null);

  async rejoin(): Promise<void> {
    await this.#return();
    await this.#inStep();
  }

  async loseStandbys(count: 1 | 2, way: Way): Promise<void> {
    const primary = await this.#primary();
    await this.#lose(this.#members.filter((member) => member !== primary).slice(0, count), way);
  }

  async regainStandbys(): Promise<void> {
    await this.rejoin();
  }

  async close(): Promise<void> {
    await this.#proxy.stop();
    for (const { machine } of this.#members) await machine.close();
    await this.#network.close();
  }

  async #lose(members: readonly Member[], way: Way): Promise<void> {
    [this.#lost, this.#way] = [members, way];
    await Promise.all(members.map(({ machine }) => (way === "killed" ? machine.kill() : machine.silence())));
  }

  async #return(): Promise<void> {
    const [lost, way] = [this.#lost, this.#way];
    this.#lost = [];
    await Promise.all(lost.map((member) => (way === "killed" ? member.start() : member.machine.hear())));
  }

  /** The member that is the primary, as soon as one of those that are there is. */
  async #primary(): Promise<Member> {
    for (const until = performance.now() + LIMIT_MS; performance.now() < until; await pause(20)) {
      const there = this.#members.filter((member) => !this.#lost.includes(member));
      const asked = there.map(async (member) => ((await member.isPrimary()) ? member : null));
      const found = (await Promise.all(asked)).find((member) => member !== null);
      if (found) return found;
    }
    throw new Error(`Patroni made no primary in ${LIMIT_MS / 1_000} s.`);
  }

  async #inStep(): Promise<void> {
    const began = performance.now();
    for (let copied = false; performance.now() < began + LIMIT_MS; await pause(100)) {
      if (await (await this.#primary()).hasStandbys().catch(() => false)) return;
      if (copied || performance.now() < began + REWIND_MS) continue;
      copied = true;
      for (const member of this.#members) if (!(await member.isInStep().catch(() => false))) await member.copyAnew();
    }
    throw new Error(`Two standbys are not in step after ${LIMIT_MS / 1_000} s.`);
  }
}
