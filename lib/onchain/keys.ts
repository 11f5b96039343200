import type { Hex } from "viem";
import { privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { env } from "#lib/env.ts";
import type { RelayKey } from "#lib/onchain/tables.ts";
import { perProcess } from "#lib/process.ts";

type Name = "RELAYER_PRIVATE_KEY" | "GUARDIAN_PRIVATE_KEY" | "POLICY_SIGNER_PRIVATE_KEY";

const accountOf = (name: Name): PrivateKeyAccount =>
  perProcess(`onchain/keys ${name}`, () => {
    const key = env()[name];
    if (!key) throw new Error(`${name} is not set.`);
    return privateKeyToAccount(key as Hex);
  });

/** The contracts accept this account's signatures only within registered mandates. @throws if its key is not set */
export const policySignerAccount = (): PrivateKeyAccount => accountOf("POLICY_SIGNER_PRIVATE_KEY");

/** The guardian can revoke any mandate in the registries and do nothing else. @throws if its key is not set */
export const guardianAccount = (): PrivateKeyAccount => accountOf("GUARDIAN_PRIVATE_KEY");

/** @throws if its key is not set */
export const senderOf = (key: RelayKey): PrivateKeyAccount =>
  key === "guardian" ? guardianAccount() : accountOf("RELAYER_PRIVATE_KEY");
