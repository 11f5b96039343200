import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { startEmbedded } from "#lib/db/embedded.ts";
import { DATABASE, PostgresNode, programsOf } from "./node.ts";
import type { Nodes, OldPrimary, Way } from "./nodes.ts";

const names = ["one", "two", "three"];
const LIMIT_MS = 60_000;
/** So long it takes until whoever decides on the primary has noticed that it is lost. */
const NOTICE_MS = 700;

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + LIMIT_MS; !(await isTrue()); await pause(5))
    if (performance.now() > end) throw new Error(`Not within ${LIMIT_MS / 1_000} s: ${what}.`);
}

/** Nodes of the embedded PostgreSQL. The drill itself decides on the primary. */
export class EmbeddedNodes implements Nodes {
  readonly withoutStandbys =
    /Nothing can be saved, because no standby that synchronous_standby_names counts answers, so COMMIT waits/;
  #primary: PostgresNode;
  #lost: PostgresNode | null = null;
  readonly #all: readonly PostgresNode[];

  private constructor(all: readonly PostgresNode[]) {
    [this.#all, this.#primary] = [all, all[0]!];
  }

  static async make(folder: string): Promise<EmbeddedNodes> {
    // PostgreSQL's account must be able to enter it.
    await chmod(folder, 0o755);
    const first = await startEmbedded({ dataDir: folder, database: DATABASE });
    await first.stop();
    const programs = await programsOf(first.directory);
    const folders = [join(first.directory, "data"), ...names.slice(1).map((name) => join(folder, name))];
    const all = await Promise.all(folders.map((data, at) => PostgresNode.make(names[at]!, data, programs)));
    const nodes = new EmbeddedNodes(all);
    try {
      await nodes.#primary.start({ names: [] });
      for (const standby of nodes.#standbys) await standby.copy(nodes.#primary, names);
      await nodes.#primary.reconfigure({ names });
      await nodes.#inStep(2);
      return nodes;
    } catch (error) {
      await nodes.close();
      throw error;
    }
  }

  get databaseUrl(): string {
    const url = new URL(this.#primary.url);
    return url.href.replace(url.host, this.#all.map((node) => new URL(node.url).host).join());
  }

  primaryUrl = (): Promise<string> => Promise.resolve(this.#primary.directUrl);

  get #standbys(): PostgresNode[] {
    return this.#all.filter((node) => node !== this.#primary);
  }

  async losePrimary(way: Way): Promise<number> {
    const lost = this.#primary;
    await this.#lose(lost, way);
    await pause(NOTICE_MS);
    const candidates = await Promise.all(
      this.#standbys.map(async (node) => ({
        node,
        received: Number(await node.ask<string>("SELECT pg_last_wal_receive_lsn() - '0/0'")),
      })),
    );
    const [first, second] = candidates.toSorted((a, b) => b.received - a.received).map(({ node }) => node);
    await first!.ask("SELECT pg_promote(false)");
    await until("the promotion", async () => !(await first!.ask<boolean>("SELECT pg_is_in_recovery()")));
    const at = performance.now();
    [this.#primary, this.#lost] = [first!, lost];
    await second!.reconfigure({ follows: first!, names });
    return at;
  }

  async returnPrimary(): Promise<void> {
    if (!this.#lost!.runs) await this.#lost!.start({ names });
    this.#lost!.hear();
  }

  async oldPrimary(): Promise<OldPrimary> {
    const old = this.#lost!;
    if (old.runs) await old.reconfigure({ names: [] });
    else await old.start({ names: [] });
    // What waited for a standby has ended then.
    const idle =
      "SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'client backend' AND state <> 'idle' AND pid <> pg_backend_pid()";
    await until("the old primary is idle", () => old.ask(idle));
    old.hear();
    return { url: old.url, nextTransaction: () => old.ask("SELECT pg_snapshot_xmax(pg_current_snapshot())::text") };
  }

  async rejoin(): Promise<void> {
    await this.#lost!.kill();
    await this.#lost!.copy(this.#primary, names);
    this.#lost = null;
    await this.#inStep(2);
  }

  async loseStandbys(count: 1 | 2, way: Way): Promise<void> {
    for (const node of this.#standbys.slice(0, count)) await this.#lose(node, way);
  }

  async regainStandbys(): Promise<void> {
    for (const node of this.#standbys) {
      if (!node.runs) await node.start({ follows: this.#primary, names });
      node.hear();
    }
    await this.#inStep(2);
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((node) => node.close()));
  }

  async #lose(node: PostgresNode, way: Way): Promise<void> {
    if (way === "killed") await node.kill();
    else node.silence();
  }

  #inStep = (count: number): Promise<void> =>
    until(`${count} standbys follow`, () =>
      this.#primary.ask(
        `SELECT count(*) = ${count} FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'quorum'`,
      ),
    );
}
