import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/mandates/contract.ts";
import { resumeMandate } from "#lib/mandates/lifecycle/resume-mandate.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.resumeMandate, resumeMandate));
