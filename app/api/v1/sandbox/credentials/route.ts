import { methods, route } from "#lib/api/route.ts";
import * as contract from "#lib/sandbox/contract.ts";
import { signSamplePayment } from "#lib/sandbox/sign-sample-payment.ts";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = methods(route(contract.signSamplePayment, signSamplePayment));
