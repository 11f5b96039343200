import { countersign } from "countersign";
import { privateKeyToAccount } from "viem/accounts";

const { COUNTERSIGN_URL: url = "", COUNTERSIGN_API_KEY: apiKey = "", COUNTERSIGN_MANDATE: mandateId = "" } = process.env;
const [paidUrl = "", operation = ""] = process.argv.slice(2);
const wallet = privateKeyToAccount(`0x${process.env.AGENT_PRIVATE_KEY?.slice(2)}`);
const pay = countersign({ url, apiKey, mandateId, wallet });
try {
  const answer = await pay.fetch(paidUrl, { operation });
  console.log(answer.status, await answer.text());
} catch (error) {
  console.error(String(error));
  process.exitCode = 1;
}
