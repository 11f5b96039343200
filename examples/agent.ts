import { countersign } from "countersign";
import { privateKeyToAccount } from "viem/accounts";

const {
  COUNTERSIGN_URL = "",
  COUNTERSIGN_API_KEY = "",
  MANDATE = "",
  AGENT_PRIVATE_KEY,
  PAID_URL = "",
  OPERATION = "",
} = process.env;
const wallet = privateKeyToAccount(AGENT_PRIVATE_KEY as `0x${string}`);
const pay = countersign({ url: COUNTERSIGN_URL, apiKey: COUNTERSIGN_API_KEY, mandateId: MANDATE, wallet });
const answer = await pay.fetch(PAID_URL, { operation: OPERATION });
console.log(answer.status, await answer.text());
