import { methods, route } from "#lib/api/route.ts";
import { cancelInvitation } from "#lib/identity/members/cancel-invitation.ts";
import * as contract from "#lib/identity/members/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.cancelInvitation, cancelInvitation));
