// An agent made with the Vercel AI SDK. Its one tool fetches URLs of the paid URL's host and pays for them under the mandate.
import { generateText, isStepCount } from "ai";
import { countersign } from "countersign";
import { paidFetch } from "countersign/ai";
import { privateKeyToAccount } from "viem/accounts";

const { COUNTERSIGN_URL: url = "", COUNTERSIGN_API_KEY: apiKey = "", COUNTERSIGN_MANDATE: mandateId = "" } = process.env;
const [paidUrl = "", model = "anthropic/claude-sonnet-4.5"] = process.argv.slice(2);
const wallet = privateKeyToAccount(`0x${process.env.AGENT_PRIVATE_KEY?.slice(2)}`);
const pay = countersign({ url, apiKey, mandateId, wallet });

const { text } = await generateText({
  model,
  tools: { paidFetch: paidFetch(pay, { hosts: [new URL(paidUrl).host] }) },
  stopWhen: isStepCount(3),
  prompt: `What does the report at ${paidUrl} say?`,
});
console.log(text);
