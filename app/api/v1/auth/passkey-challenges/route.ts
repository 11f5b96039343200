import { methods, route } from "#lib/api/route.ts";
import { challengePasskey } from "#lib/approvals/decision/challenge-passkey.ts";
import * as contract from "#lib/identity/passkeys/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.challengePasskey, challengePasskey));
