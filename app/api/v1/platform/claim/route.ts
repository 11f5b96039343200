import { methods, route } from "#lib/api/route.ts";
import { claimPlatform } from "#lib/platform/claim-platform.ts";
import * as contract from "#lib/platform/contract.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.claimPlatform, claimPlatform));
