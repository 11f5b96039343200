import { clock } from "#lib/audit/transact.ts";
import { countAttempt } from "#lib/http/attempts.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import { requireProvedToGive } from "#lib/identity/passkeys/fresh-proof.ts";
import * as contract from "#lib/platform/contract.ts";
import { makeFirstAdmin } from "#lib/identity/sessions/first-admin.ts";
import { matchesSetupCode } from "#lib/installation/setup-code.ts";
import { lockFirstAdmin, readInstallation } from "#lib/installation/store.ts";
import { Problem } from "#lib/problem.ts";

const TRIES_MAX = 5;

export const claimPlatform: Handler<typeof contract.claimPlatform> = async ({ body }, { caller, idempotency }) => {
  await countAttempt("claim", caller.userId, TRIES_MAX);
  return once(contract.claimPlatform, idempotency, async (tx) => {
    await lockFirstAdmin(tx);
    const installation = await readInstallation(tx);
    if (installation?.claimed) throw new Problem("already_claimed", { detail: "This platform has its first admin already." });
    if (!installation?.setupCodeHash || !matchesSetupCode(body.setupCode, installation.setupCodeHash)) {
      throw new Problem("setup_code_invalid", {
        detail: "This is not the set-up code that the service printed at its first start.",
      });
    }
    await requireProvedToGive(tx, caller);
    await makeFirstAdmin(tx, caller.userId, "Claimed with the set-up code.", await clock(tx));
    return { session: await viewSession(caller.sessionId, tx) };
  });
};
