import { createHash, createHmac } from "node:crypto";
import { env } from "#lib/env.ts";

/** Derived from its id under the server's key, so that it can be shown again and never has to be stored. */
export const continuationTokenOf = (continuationTokenId: string): string =>
  `cst_${createHmac("sha256", env().API_KEY_SECRET).update(`countersign.continuation.v1\n${continuationTokenId}`).digest("base64url")}`;

export const continuationHash = (token: string): string => createHash("sha256").update(token).digest("base64url");
