import { countersign } from "countersign";
import { privateKeyToAccount } from "viem/accounts";

const { COUNTERSIGN_URL: url = "", COUNTERSIGN_API_KEY: apiKey = "", MANDATE: mandateId = "", AGENT_PRIVATE_KEY } = process.env;
const [paidUrl = "", operation = ""] = process.argv.slice(2);
const wallet = privateKeyToAccount(AGENT_PRIVATE_KEY as `0x${string}`);
const pay = countersign({ url, apiKey, mandateId, wallet });
const answer = await pay.fetch(paidUrl, { operation });
console.log(answer.status, await answer.text());
