import { chmod, mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { countersign, type Countersign } from "../index.ts";
import { isHttp, isKey } from "../service.ts";
import { WrongUse, type Values } from "./arguments.ts";
import { chooseMandate, mandatesOf } from "./mandates.ts";

/** The settings that `login` saves. The key is a secret, so others must not be able to read the settings file. */
export type Saved = {
  readonly url: string;
  readonly apiKey: string;
  readonly mandateId?: string;
  readonly serviceAccountId?: string;
};

/** The XDG standard says that an empty or a relative path is ignored. */
export function settingsFile(): string {
  const { COUNTERSIGN_CONFIG, XDG_CONFIG_HOME, APPDATA } = process.env;
  if (COUNTERSIGN_CONFIG) return COUNTERSIGN_CONFIG;
  const folders = [XDG_CONFIG_HOME, process.platform === "win32" ? APPDATA : undefined];
  const folder = folders.find((path) => path !== undefined && isAbsolute(path)) ?? join(homedir(), ".config");
  return join(folder, "countersign", "config.json");
}

/** Replaces the settings file and returns its path. The file has mode 0600 from the start, so that other users cannot read it. */
export async function save(saved: Saved): Promise<string> {
  const file = settingsFile();
  const next = `${file}.${process.pid}`;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(next, `${JSON.stringify(saved, null, 2)}\n`, { mode: 0o600, flag: "wx" });
  await chmod(next, 0o600);
  await rename(next, file);
  return file;
}

const isSaved = (value: unknown): value is Partial<Saved> =>
  typeof value === "object" &&
  value !== null &&
  ["url", "apiKey", "mandateId", "serviceAccountId"].every((name) =>
    ["string", "undefined"].includes(typeof (value as Readonly<Record<string, unknown>>)[name]),
  );

/** @throws WrongUse if its mode gives others any right (not checked on Windows), or if it does not contain settings as JSON */
async function readSaved(): Promise<Partial<Saved>> {
  const file = settingsFile();
  const found = await stat(file).catch(() => null);
  if (!found) return {};
  if (process.platform !== "win32" && (found.mode & 0o077) !== 0)
    throw new WrongUse(`Others can read ${file}. Run chmod 600 on it, and rotate the key.`);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new WrongUse(`${file} cannot be read (${error.code}).`);
  });
  let saved: unknown;
  try {
    saved = JSON.parse(text);
  } catch {
    throw new WrongUse(`${file} is not JSON. Run countersign login again.`);
  }
  if (!isSaved(saved)) throw new WrongUse(`${file} does not contain the settings that login saves. Run countersign login again.`);
  return saved;
}

const withoutSlash = (url: string): string => url.trim().replace(/\/+$/, "");

/** The address of the service: COUNTERSIGN_URL, or the one that login saved. @throws WrongUse */
export async function serviceUrl(): Promise<string> {
  const { COUNTERSIGN_URL } = process.env;
  const url = COUNTERSIGN_URL || (await readSaved()).url;
  if (!url) throw new WrongUse("Set COUNTERSIGN_URL, or run countersign login URL.");
  if (!isHttp(url)) throw new WrongUse(`The service's address must begin with http:// or https://. ${url} does not.`);
  return withoutSlash(url);
}

/**
 * The key and the mandate come from the environment, or else from what login saved if it was saved for this address.
 * @throws WrongUse
 */
export async function access(): Promise<Saved> {
  const saved = await readSaved();
  const url = await serviceUrl();
  const own: Partial<Saved> = saved.url !== undefined && withoutSlash(saved.url) === url ? saved : {};
  const { COUNTERSIGN_API_KEY, COUNTERSIGN_MANDATE } = process.env;
  const apiKey = (COUNTERSIGN_API_KEY || own.apiKey)?.trim();
  if (!apiKey) throw new WrongUse("Set COUNTERSIGN_API_KEY, or run countersign login.");
  if (!isKey(apiKey)) throw new WrongUse("The key of COUNTERSIGN_API_KEY or of login contains a character that no key has.");
  const mandateId = COUNTERSIGN_MANDATE || own.mandateId;
  const serviceAccountId = COUNTERSIGN_API_KEY ? undefined : own.serviceAccountId;
  return { url, apiKey, ...(mandateId && { mandateId }), ...(serviceAccountId !== undefined && { serviceAccountId }) };
}

/** The wallet of AGENT_PRIVATE_KEY. Null if the variable is not set or empty. @throws WrongUse */
export async function walletOf() {
  const { AGENT_PRIVATE_KEY } = process.env;
  if (!AGENT_PRIVATE_KEY) return null;
  const { privateKeyToAccount } = await import("viem/accounts").catch(() => {
    throw new WrongUse("AGENT_PRIVATE_KEY needs a package: npm install viem @x402/core @x402/evm");
  });
  try {
    return privateKeyToAccount(AGENT_PRIVATE_KEY as `0x${string}`);
  } catch {
    throw new WrongUse("AGENT_PRIVATE_KEY is 0x and 64 hexadecimal digits.");
  }
}

type Asking = Parameters<typeof countersign>[0]["onApproval"];

/** Names the page to the user. With --no-wait the call ends then. */
export const waiting =
  ({ "no-wait": stops }: Values): Asking =>
  ({ url }) => {
    console.error(`A person must approve this payment, at ${url}`);
    return stops ? "stop" : "wait";
  };

/** A client for the mandate of the environment or of login. @throws WrongUse if a setting is missing or not valid */
export async function client(onApproval?: Asking): Promise<Countersign> {
  const saved = await access();
  const { url, apiKey, mandateId } = saved;
  if (mandateId === undefined) throw new WrongUse(chooseMandate(await mandatesOf(saved)));
  const wallet = await walletOf();
  return countersign({ url, apiKey, mandateId, ...(wallet && { wallet }), ...(onApproval && { onApproval }) });
}
