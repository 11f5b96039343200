import type { Handler } from "#lib/http/operation.ts";
import { changePause } from "#lib/identity/keys/change-pause.ts";
import * as contract from "#lib/identity/keys/contract.ts";

export const pauseServiceAccount: Handler<typeof contract.pauseServiceAccount> = changePause(contract.pauseServiceAccount, true);
