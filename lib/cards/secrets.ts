import type { ConnectionRow } from "#lib/cards/connection-store.ts";
import { decrypt, encrypt } from "#lib/key-ring.ts";

export const sealSecret = (secret: string, connectionId: string): string => encrypt(Buffer.from(secret), connectionId);

/** Without those whose key is not in the ring any more. */
export const secretsOf = ({ secrets, connectionId }: Pick<ConnectionRow, "secrets" | "connectionId">): readonly string[] =>
  secrets.flatMap((sealed) => decrypt(sealed, connectionId)?.toString() ?? []);
