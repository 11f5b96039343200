import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/members/contract.ts";
import { inviteMember } from "#lib/identity/members/invite-member.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.inviteMember, inviteMember));
