import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/identity/members/contract.ts";
import { updateMember } from "#lib/identity/members/update-member.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.updateMember, updateMember));
