import { methods, route } from "#lib/http/route.ts";
import { resumeMandate as operation } from "#lib/mandates/contract.ts";
import { resumeMandate } from "#lib/mandates/resume-mandate.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(operation, resumeMandate));
