import type { Handler } from "#lib/http/operation.ts";
import { changePause } from "#lib/identity/keys/change-pause.ts";
import * as contract from "#lib/identity/keys/contract.ts";

export const resumeServiceAccount: Handler<typeof contract.resumeServiceAccount> = changePause(
  contract.resumeServiceAccount,
  false,
);
