import { database } from "#lib/db/client.ts";
import { findByName } from "#lib/platform/emergency-store.ts";
import type { Environment } from "#lib/vocabulary.ts";

/** The names are untrusted text. */
export type FoundTarget = {
  readonly kind: "mandate" | "agent" | "seller";
  readonly id: string;
  readonly name: string;
  readonly domain: string | null;
  readonly organizationName: string;
  readonly isStopped: boolean;
};

export type FoundTargets = {
  readonly items: readonly FoundTarget[];
  readonly more: boolean;
};

/** A single character is part of almost every name. */
const TEXT_MIN = 2;
const TEXT_MAX = 120;
const ROWS = 10;

/** The ten newest of each kind; in the list, those that are not stopped come first. Null if the text is too short. */
export async function findTargets(environment: Environment, text: string): Promise<FoundTargets | null> {
  const search = text.trim().slice(0, TEXT_MAX);
  if (search.length < TEXT_MIN) return null;
  const { mandates, agents, sellers } = await findByName(database(), environment, search, ROWS + 1);
  const cut = <R>(rows: readonly R[]): readonly R[] => rows.slice(0, ROWS);
  const items: FoundTarget[] = [
    ...cut(mandates).map(({ status, ...row }) => ({
      ...row,
      kind: "mandate" as const,
      domain: null,
      isStopped: status === "revoked",
    })),
    ...cut(agents).map(({ revokedAt, ...row }) => ({
      ...row,
      kind: "agent" as const,
      domain: null,
      isStopped: revokedAt !== null,
    })),
    ...cut(sellers).map(({ stoppedAt, ...row }) => ({ ...row, kind: "seller" as const, isStopped: stoppedAt !== null })),
  ];
  return {
    items: items.toSorted((a, b) => Number(a.isStopped) - Number(b.isStopped)),
    more: [mandates, agents, sellers].some(({ length }) => length > ROWS),
  };
}
