import { exampleHash } from "#lib/audit-event.ts";

/** A shortened example, which cannot be verified. */
const jws = "eyJhbGciOiJFUzI1NiJ9.eyJqdGkiOiJkZWNfMDFrYWo0In0.c2lnbmF0dXJl";

export const exampleAnswer = {
  receipt: jws,
  proof: {
    event: '{"actorId":"sa_01kaj4n7v8e2m0x3c9t5q6r7s4","type":"payment.authorized"}',
    leafIndex: 1,
    treeSize: 2,
    path: [exampleHash],
    log: {
      event: '{"actorId":"service","type":"auditChain.signed"}',
      leafIndex: 0,
      treeSize: 1,
      path: [],
    },
    head: jws,
  },
};
