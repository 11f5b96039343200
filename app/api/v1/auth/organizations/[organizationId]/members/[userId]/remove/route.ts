import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/members/contract.ts";
import { removeMember } from "#lib/identity/members/remove-member.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.removeMember, removeMember));
