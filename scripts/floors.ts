import { existsSync } from "node:fs";
import { join, posix, relative } from "node:path";

/**
 * The modules of lib/, from the lowest to the highest. A module may import only from itself and from modules before it in this
 * list, types included, so that imports between modules have no cycles. The files directly in lib/ are lower than all modules.
 */
export const floors = [
  "db",
  "telemetry",
  "outbox",
  "receipts",
  "http",
  "openapi",
  "outbound",
  "chains",
  "audit",
  "command",
  "mail",
  "installation",
  "identity",
  "identity/passkeys",
  "identity/keys",
  "identity/members",
  "identity/sessions",
  "identity/oauth",
  "push",
  "webhooks",
  "x402",
  "onchain",
  "sellers",
  "sellers/resources",
  "sellers/pay-to",
  "storefront",
  "billing",
  "mandates/policy",
  "mandates",
  "mandates/draft",
  "onchain/registry",
  "holds",
  "approvals",
  "approvals/decision",
  "notices",
  "alerts",
  "payments",
  "payments/receipts",
  "payments/executions",
  "payments/refusals",
  "onchain/relay",
  "settlement",
  "onchain/registration",
  "mandates/lifecycle",
  "execute",
  "cards",
  "health",
  "commerce",
  "sandbox",
  "platform",
  "search",
  "changes",
  "operations",
  "pages",
  "pages/buyer",
  "pages/seller",
  "pages/settings",
  "pages/admin",
  "pages/docs",
  "api",
  "mcp",
  "server",
] as const;

type Place = { readonly name: string; readonly floor: number; readonly room: string };

/**
 * The module to which a path below lib/ belongs, its position in the list, counted from 1, and the room of the module, which is the
 * path of a subfolder that is no module itself, or empty for the module's own folder. The position is 0 for a file directly in
 * lib/, and -1 if no folder of the path is a module.
 */
export function placeOf(path: string): Place {
  const folders = path.split("/").slice(0, -1);
  if (folders.length === 0) return { name: "lib", floor: 0, room: "" };
  for (let depth = folders.length; depth > 0; depth--) {
    const name = folders.slice(0, depth).join("/");
    const floor = floors.indexOf(name as (typeof floors)[number]) + 1;
    if (floor > 0) return { name, floor, room: folders.slice(depth).join("/") };
  }
  return { name: folders.join("/"), floor: -1, room: "" };
}

/** The error message for an import; null if the import is allowed. Both paths are relative to lib/. */
export function wrongImport(from: string, to: string): string | null {
  const [own, other] = [placeOf(from), placeOf(to)];
  if (own.floor < 0) return `lib/${own.name} is not in the list of modules in scripts/floors.ts.`;
  if (other.floor <= own.floor) return null;
  return `${own.name} must not import from ${other.name}, which is above it. Move the file, or hand the function in.`;
}

/**
 * The error message for an import from a room, the inside of a module; null if the import is allowed. `from` is relative to the
 * repository, because files outside lib/ may not enter a room either. `to` is relative to lib/.
 */
export function wrongDoor(from: string, to: string): string | null {
  const { name, room } = placeOf(to);
  if (room === "" || (from.startsWith("lib/") && placeOf(from.slice("lib/".length)).name === name)) return null;
  return `lib/${name}/${room} is a room of lib/${name}: others import the files directly in lib/${name}.`;
}

/** The lib/ file that a name of perProcess begins with, without its ending. */
const fileOf = (name: string): string => name.split(" ", 1)[0] ?? "";

/**
 * The error message for a name that is given to `perProcess` or `forget`; null if the name is allowed. Only the file that a name
 * begins with may create its value, so two files never share one by accident; others may forget it, or set it in a test.
 */
export function wrongName(by: "perProcess" | "forget", name: string | undefined, from: string | undefined): string | null {
  const own = from?.endsWith(".test.ts") ? undefined : from?.replace(/\.ts$/, "");
  if (name === undefined) return by === "forget" ? null : "Write the name of the value here, so that the linter can check it.";
  if (by === "perProcess" && own !== undefined)
    return fileOf(name) === own ? null : `The name must be "${own}", or begin with "${own} ".`;
  return existsSync(join(import.meta.dirname, "../lib", `${fileOf(name)}.ts`)) ? null : `lib/${fileOf(name)}.ts does not exist.`;
}

type Source = { readonly type: string; readonly value?: unknown };
type Importing = { readonly source?: Source | null; readonly argument?: Source };
type Context = { readonly cwd: string; readonly filename: string; report(finding: { node: unknown; message: string }): void };

const slashes = (path: string): string => path.replaceAll("\\", "/");

/** The visitors that report what `wrong` says of each imported path. */
function everyImport(context: Context, wrong: (path: string) => string | null) {
  const check = (node: Importing): void => {
    const path = (node.source ?? node.argument)?.value;
    const message = typeof path === "string" ? wrong(path) : null;
    if (message) context.report({ node, message });
  };
  return {
    ImportDeclaration: check,
    ImportExpression: check,
    ExportNamedDeclaration: check,
    ExportAllDeclaration: check,
    TSImportType: check,
  };
}

function create(context: Context) {
  const from = /\/lib\/(.+)$/.exec(slashes(context.filename))?.[1];
  if (!from) return {};
  return everyImport(context, (path) => {
    const to = /^#lib\/(.+)$/.exec(path)?.[1];
    return to ? wrongImport(from, to) : null;
  });
}

function createDoors(context: Context) {
  const from = slashes(relative(context.cwd, context.filename));
  return everyImport(context, (path) => {
    const target = /^\.{1,2}\//.test(path) ? posix.join(posix.dirname(from), path) : path.replace(/^#/, "");
    return target.startsWith("lib/") ? wrongDoor(from, target.slice("lib/".length)) : null;
  });
}

type Text = {
  readonly type: string;
  readonly value?: unknown;
  readonly quasis?: readonly { readonly value: { readonly raw: string } }[];
};
type Calling = { readonly callee: { readonly name?: string }; readonly arguments: readonly Text[] };

/** The text with which a string begins, if the code states it. */
function textOf({ value, quasis }: Text): string | undefined {
  return typeof value === "string" ? value : quasis?.[0]?.value.raw || undefined;
}

function createNames(context: Context) {
  const path = slashes(context.filename);
  const from = /\/lib\/(.+)$/.exec(path)?.[1];
  if (from === "process.ts") return {};
  return {
    CallExpression: (node: Calling): void => {
      const by = node.callee.name;
      if (by !== "perProcess" && by !== "forget") return;
      const names = by === "forget" ? node.arguments : node.arguments.slice(0, 1);
      for (const name of names) {
        const message = wrongName(by, textOf(name), from);
        if (message) context.report({ node, message });
      }
    },
  };
}

export default {
  meta: { name: "floors" },
  rules: { downward: { create }, doors: { create: createDoors }, "process-names": { create: createNames } },
};
