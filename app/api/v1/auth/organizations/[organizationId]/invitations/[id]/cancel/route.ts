import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/members/member-contract.ts";
import { cancelInvitation } from "#lib/identity/members/cancel-invitation.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.cancelInvitation, cancelInvitation));
