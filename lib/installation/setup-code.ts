import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { env } from "#lib/env.ts";
import { keepSetupCode, readInstallation } from "#lib/installation/store.ts";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH = 24;

/** Nobody can guess 120 random bits, so a plain hash is enough to store the code. */
function newCode(): string {
  const letters = [...randomBytes(LENGTH)].map((byte) => ALPHABET[byte & 31]).join("");
  return letters.replace(/(.{4})(?=.)/g, "$1-");
}

/** People type the code, so hyphens, spaces and case are ignored. */
export const hashSetupCode = (code: string): string =>
  createHash("sha256")
    .update(`countersign.setup.v1\n${code.toUpperCase().replace(/[\s-]/g, "")}`)
    .digest("hex");

export function matchesSetupCode(code: string, setupCodeHash: string): boolean {
  const given = Buffer.from(hashSetupCode(code), "hex");
  const stored = Buffer.from(setupCodeHash, "hex");
  return given.length === stored.length && timingSafeEqual(given, stored);
}

/** Whether the installation waits for the person who has its set-up code. */
export async function awaitsFirstAdmin(): Promise<boolean> {
  const installation = await readInstallation();
  return (installation?.setupCodeHash ?? null) !== null && installation?.claimed === false;
}

/** Null in a sandbox, or if there is an admin or, unless `replaces`, a code already. */
export async function issueSetupCode({ replaces = false } = {}): Promise<string | null> {
  if (env().ENVIRONMENT !== "production") return null;
  const installation = await readInstallation();
  if (!installation || installation.claimed || (installation.setupCodeHash !== null && !replaces)) return null;
  const code = newCode();
  return (await keepSetupCode(hashSetupCode(code), replaces)) ? code : null;
}
