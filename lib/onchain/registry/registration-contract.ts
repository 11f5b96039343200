import { isAddress } from "viem/utils";
import { z } from "zod";
import { Address, BYTES32 } from "#lib/evm.ts";
import { operation } from "#lib/http/operation.ts";
import { Timestamp } from "#lib/time.ts";

/** How payments under a mandate that is registered on the chain are made: with signatures, or by a contract. */
const RegistrationPath = z.enum(["proofs", "module"]).meta({ id: "RegistrationPath" });

const PayableAddress = Address.refine(
  (text) => isAddress(text) && !/^0x0+$/.test(text),
  "This is not an address that can be paid. Compare its checksum.",
).meta({ description: "An EVM address. In mixed case its checksum is checked." });

const Word = z.string().regex(BYTES32, "Write 32 bytes as 0x and 64 hexadecimal digits.");

const UINT256_LIMIT = 2n ** 256n;
const Nonce = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,77}|0x[0-9a-fA-F]{1,64})$/, {
    error: "Write the nonce as a decimal number, or in hexadecimal with 0x.",
    // Stop after a wrong value, because the next check converts the text to a number and would throw.
    abort: true,
  })
  .refine((text) => BigInt(text) < UINT256_LIMIT, "The nonce is larger than 256 bits.")
  .meta({ description: "A number below 2^256 that the account has not used in an earlier signature.", examples: ["70195728"] });

const Deadline = z
  .int()
  .min(0)
  .meta({ description: "Seconds since 1970, at most an hour ahead. Afterwards the signature is invalid." });

const Signature = z
  .string()
  .max(8_194)
  .regex(/^0x(?:[0-9a-fA-F]{2})+$/, "Write the signature in hexadecimal, with 0x.")
  .meta({
    description:
      "The signature of the typed data of prepareRegistration: 65 bytes of the account's key, or a signature that the account's code accepts (ERC-1271).",
  });

const uint64 = z.int().min(0);

const Authorization = z
  .strictObject({
    address: PayableAddress.meta({ description: "smartPaymentAccountImplementationAddress of listDeployments." }),
    chainId: uint64,
    nonce: uint64.meta({ description: "The account's transaction count." }),
    yParity: z.union([z.literal(0), z.literal(1)]),
    r: Word,
    s: Word,
  })
  .meta({
    id: "DelegationAuthorization",
    description:
      "An EIP-7702 authorization of the account. With it, one transaction both delegates the account to the service's smart account and registers the mandate.",
  });
export type Authorization = z.infer<typeof Authorization>;

const chain = z.string().min(1).max(64);
const path = "/api/v1/onchain/mandates/{id}/registration-authorizations" as const;

const exampleTerms = {
  mandateId: "0x4b227777d4dd1fc61c6f884f48641d02b4d121d3fd328cb08b5531fcacdabf8a",
  account: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
  payee: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
  token: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  perPaymentLimit: "1000000",
  periodLimit: "5000000",
  periodSeconds: "86400",
  start: "1795248000",
  end: "1826784000",
  maxPaymentsPerPeriod: "5",
  enforcementPath: "1",
  termsHash: "0x9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
};

const Numeral = z.string().meta({ description: "A decimal number." });
const Field = z.object({ name: z.string(), type: z.string() });

const TypedData = z
  .object({
    domain: z.object({ name: z.string(), version: z.string(), chainId: z.int(), verifyingContract: z.string() }),
    types: z.record(z.string(), z.array(Field)),
    primaryType: z.string(),
    message: z
      .object({
        mandateId: z.string().meta({ description: "The mandate's id in the registry: keccak256 of mandateId:version." }),
        account: z.string(),
        payee: z.string(),
        token: z.string(),
        perPaymentLimit: Numeral,
        periodLimit: Numeral,
        periodSeconds: Numeral,
        start: Numeral,
        end: Numeral,
        maxPaymentsPerPeriod: Numeral,
        enforcementPath: Numeral.meta({ description: "1 pays by proofs, 2 by the payment module." }),
        termsHash: z.string().meta({ description: "keccak256 of the policy's RFC 8785 text." }),
        nonce: Numeral,
        deadline: Numeral,
      })
      .meta({ description: "Amounts in the token's smallest unit, times in seconds since 1970." }),
  })
  .meta({ id: "RegistrationTypedData", description: "EIP-712 typed data, as eth_signTypedData_v4 takes it." });

const PreparedRegistration = z
  .object({
    chain: z.string(),
    contractAddress: z.string().meta({ description: "The registry of mandates." }),
    account: z.string().meta({ description: "The mandate's wallet, which must sign." }),
    version: z.int().meta({ description: "The version of the mandate that the terms come from." }),
    nonce: z.string(),
    deadline: z.int(),
    typedData: TypedData,
    delegation: z
      .object({
        address: z.string().meta({ description: "The contract to which the account must delegate." }),
        chainId: z.int(),
        nonce: z.int().meta({ description: "The account's transaction count now." }),
        done: z.boolean().meta({ description: "Whether the account already delegates to it." }),
      })
      .meta({ description: "The values that an EIP-7702 authorization must contain." }),
  })
  .meta({ id: "PreparedRegistration" });
export type PreparedRegistration = z.infer<typeof PreparedRegistration>;

export const prepareRegistration = operation({
  id: "prepareRegistration",
  method: "GET",
  path,
  tag: "Onchain",
  summary: "Get the typed data that a wallet signs to register a mandate on chain",
  description:
    "The hard limits of the mandate's current version for one payee, as typed data for the mandate's wallet, with a nonce and a deadline. Nothing is stored and nothing is sent. Send the signature with registerMandate.",
  access: { capability: "mandates:read" },
  query: z.strictObject({
    chain: chain.optional().meta({ description: "Default: the chain of the mandate." }),
    payeeAddress: PayableAddress,
    path: RegistrationPath.default("proofs"),
  }),
  response: PreparedRegistration,
  problems: ["not_found", "mandate_not_active", "mandate_revoked", "policy_denied", "conflict", "rpc_unavailable"],
  example: {
    params: { id: "mdt_01kaj4n7v8e2m0x3c9t5q6r7s8" },
    query: { payeeAddress: exampleTerms.payee },
    response: {
      chain: "eip155:84532",
      contractAddress: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
      account: exampleTerms.account,
      version: 1,
      nonce: "70195728",
      deadline: 1_795_250_000,
      typedData: {
        domain: {
          name: "MandateRegistry",
          version: "1",
          chainId: 84_532,
          verifyingContract: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
        },
        types: { RegisterMandate: [{ name: "mandateId", type: "bytes32" }] },
        primaryType: "RegisterMandate",
        message: { ...exampleTerms, nonce: "70195728", deadline: "1795250000" },
      },
      delegation: { address: "0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0", chainId: 84_532, nonce: 7, done: false },
    },
  },
});

export const registerMandate = operation({
  id: "registerMandate",
  method: "POST",
  path,
  tag: "Onchain",
  summary: "Register a mandate on chain by its wallet's signature",
  description:
    "Checks the signature of the mandate's wallet and submits the registration to the registry; the service pays the gas. The signature is the credential: without a signature of the wallet, the answer is the same for every id. Everything is checked before anything is sent, and a repeat of the request gets the same answer. Token data is only compared.",
  access: "anyone",
  body: z
    .strictObject({
      chain,
      payeeAddress: PayableAddress,
      nonce: Nonce,
      deadline: Deadline,
      signature: Signature,
      tokenAddress: PayableAddress.optional(),
      tokenName: z.string().max(64).optional(),
      tokenVersion: z.string().max(16).optional(),
      tokenDecimals: z.int().min(0).max(36).optional(),
      authorization: Authorization.optional(),
    })
    .meta({ id: "RegisterMandate" }),
  response: z
    .object({
      txHash: z.string(),
      chain: z.string(),
      contractAddress: z.string(),
      action: z.literal("registerMandate"),
      submittedAt: Timestamp,
    })
    .meta({ id: "SubmittedRegistration", description: "Submitted, and not yet confirmed by the chain." }),
  problems: [
    "not_found",
    "mandate_not_active",
    "mandate_revoked",
    "policy_denied",
    "unauthenticated",
    "nonce_reused",
    "conflict",
    "rpc_unavailable",
  ],
  variants: [409, 502],
  example: {
    params: { id: "mdt_01kaj4n7v8e2m0x3c9t5q6r7s8" },
    body: {
      chain: "eip155:84532",
      payeeAddress: exampleTerms.payee,
      nonce: "70195728",
      deadline: 1_795_250_000,
      signature: `0x${"1f".repeat(64)}1b`,
    },
    response: {
      txHash: `0x${"8a".repeat(32)}`,
      chain: "eip155:84532",
      contractAddress: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
      action: "registerMandate",
      submittedAt: "2026-11-21T12:00:00.000Z",
    },
  },
});
export type RegisterBody = z.output<typeof registerMandate.body>;
