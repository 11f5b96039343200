import { methods, route } from "#lib/http/route.ts";
import * as contract from "#lib/mandates/contract.ts";
import { createMandate } from "#lib/mandates/create-mandate.ts";
import { listMandates } from "#lib/mandates/list-mandates.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.createMandate, createMandate),
  route(contract.listMandates, listMandates),
);
