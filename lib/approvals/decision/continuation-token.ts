import { createHash, createHmac } from "node:crypto";
import { env } from "#lib/env.ts";

/** An HMAC of the id with API_KEY_SECRET, so that the token can be shown again without being stored. */
export const continuationTokenOf = (continuationTokenId: string): string =>
  `cst_${createHmac("sha256", env().API_KEY_SECRET).update(`countersign.continuation.v1\n${continuationTokenId}`).digest("base64url")}`;

export const continuationHash = (token: string): string => createHash("sha256").update(token).digest("base64url");
