import { operation } from "#lib/http/operation.ts";
import { exampleAnswer } from "#lib/payments/receipts/receipt-example.ts";
import { Answer } from "#lib/receipts/receipt-schema.ts";

const Receipt = Answer.meta({
  id: "Receipt",
  description: "A signed statement (JWS) and the proof that its event is in a signed log.",
});

export const getPaymentReceipt = operation({
  id: "getPaymentReceipt",
  method: "GET",
  path: "/api/v1/receipts/payments/{authorizationId}",
  tag: "Payments",
  summary: "Get a receipt that proves the decision about a payment",
  description:
    "A signed statement with a proof that anybody can check without this service: with npm run verify, at /verify, or with a verifier of their own. `proof` is absent until a signed head includes the decision.",
  access: { capability: "payments:read" },
  response: Receipt,
  problems: ["not_found"],
  example: { params: { authorizationId: "aut_01kaj4n7v8e2m0x3c9t5q6r7sa" }, response: exampleAnswer },
});

export const getApprovalReceipt = operation({
  id: "getApprovalReceipt",
  method: "GET",
  path: "/api/v1/receipts/approvals/{approvalId}",
  tag: "Payments",
  summary: "Get a receipt that proves that a person approved a payment",
  description: "As getPaymentReceipt, with the basket that the person saw and how the person confirmed.",
  access: { capability: "payments:read" },
  response: Receipt,
  problems: ["not_found"],
  example: { params: { approvalId: "apr_01kaj4n7v8e2m0x3c9t5q6r7sf" }, response: exampleAnswer },
});

export const getExecutionReceipt = operation({
  id: "getExecutionReceipt",
  method: "GET",
  path: "/api/v1/receipts/executions/{executionId}",
  tag: "Payments",
  summary: "Get a receipt that proves the state of an execution",
  description: "As getPaymentReceipt, with the settlement that the service found on the chain.",
  access: { capability: "payments:read" },
  response: Receipt,
  problems: ["not_found"],
  example: { params: { executionId: "exe_01kaj4n7v8e2m0x3c9t5q6r7se" }, response: exampleAnswer },
});
