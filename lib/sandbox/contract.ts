import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import { Id } from "#lib/ids.ts";

export const signSamplePayment = operation({
  id: "signSamplePayment",
  method: "POST",
  path: "/api/v1/sandbox/credentials",
  tag: "Payments",
  summary: "Sign a payment to a sample seller with the test wallet",
  description:
    "Only in a sandbox that has a test wallet. Signs the challenge of a payment that you authorized, if it pays one of the sample sellers of this installation. Give the credential to executePayment.",
  access: { capability: "payments:execute" },
  body: z.strictObject({ authorizationId: Id }).meta({ id: "SignSamplePayment" }),
  response: z.object({ paymentCredential: z.string() }).meta({ id: "SampleCredential" }),
  problems: ["forbidden", "not_found"],
  example: {
    body: { authorizationId: "aut_01kaj4n7v8e2m0x3c9t5q6r7sa" },
    response: { paymentCredential: "eyJ4NDAyVmVyc2lvbiI6Mn0=" },
  },
});
