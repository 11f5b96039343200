import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/mandates/contract.ts";
import { createMandate } from "#lib/mandates/lifecycle/create-mandate.ts";
import { listMandates } from "#lib/mandates/list-mandates.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(
  route(contract.listMandates, listMandates),
  route(contract.createMandate, createMandate),
);
