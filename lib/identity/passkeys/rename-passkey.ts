import { once } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { lockPerson } from "#lib/identity/lock-person.ts";
import * as contract from "#lib/identity/passkeys/contract.ts";
import { setPasskeyName } from "#lib/identity/passkeys/store.ts";
import { presentPasskey } from "#lib/identity/passkeys/present-passkey.ts";
import { notFound } from "#lib/problem.ts";

export const renamePasskey: Handler<typeof contract.renamePasskey> = ({ passkeyId, body: { name } }, { caller, idempotency }) =>
  once(contract.renamePasskey, idempotency, async (tx) => {
    await lockPerson(tx, caller);
    const row = await setPasskeyName(tx, caller.userId, passkeyId, name);
    if (!row) throw notFound("passkey");
    return presentPasskey(row);
  });
