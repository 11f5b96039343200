import { parseAmount } from "#lib/money.ts";
import type { Sample } from "#lib/pages/docs/sample.ts";
import type { AssetOnChain } from "#lib/chains/chains.ts";

const AMOUNT = "0.002";
const SELLER = "weather.example.com";
const PAY_TO = "0x209693bc6afc0c5328ba36faf03c514ef312287c";

export function sampleFor({ chain, asset, tokenAddress, tokenName, tokenVersion, tokenDecimals }: AssetOnChain): Sample {
  const url = `https://${SELLER}/v1/forecast`;
  const offer = {
    scheme: "exact",
    network: chain,
    amount: String(parseAmount(AMOUNT, tokenDecimals)),
    asset: tokenAddress,
    payTo: PAY_TO,
    maxTimeoutSeconds: 300,
    extra: { name: tokenName, version: tokenVersion },
  };
  return {
    asset,
    policy: {
      assets: [{ asset, chain }],
      limits: { perPayment: "1", budgets: [{ period: "day", timezone: "UTC", amount: "5" }] },
      sellers: { unregistered: "allow" },
      domains: { allow: [SELLER] },
      // An unregistered seller has not proved its domain, so this mandate also names the address that may be paid.
      payTo: { allow: [PAY_TO] },
      approval: { mode: "never" },
    },
    intent: {
      seller: { domain: SELLER },
      amount: AMOUNT,
      asset,
      chain,
      payTo: PAY_TO,
      challenge: { x402Version: 2, resource: { url }, accepts: [offer] },
    },
  };
}

type Reader = {
  readonly baseUrl: string;
  /** `preview` has the characters of the key that may be shown. */
  readonly key: { readonly serviceAccountId: string; readonly preview: string } | undefined;
  readonly body: object;
};

const keyLine = ({ key }: Reader): string =>
  key ? `the key of ${key.serviceAccountId}: ${key.preview}` : "the key of an agent, such as csk_…";

const inner = (body: object, indent: string): string => JSON.stringify(body, null, 2).replaceAll("\n", `\n${indent}`);

export function snippetsFor(reader: Reader): readonly { readonly name: string; readonly label: string; readonly text: string }[] {
  const { baseUrl, body } = reader;
  const url = `${baseUrl}/api/v1/payments/authorize`;
  return [
    {
      name: "curl",
      label: "With curl",
      text: `# COUNTERSIGN_API_KEY holds ${keyLine(reader)}
curl ${url} \\
  -H "Authorization: Bearer $COUNTERSIGN_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${inner(body, "  ")}'`,
    },
    {
      name: "TypeScript",
      label: "With TypeScript",
      text: `// COUNTERSIGN_API_KEY holds ${keyLine(reader)}
const reply = await fetch("${url}", {
  method: "POST",
  headers: { Authorization: \`Bearer \${process.env.COUNTERSIGN_API_KEY}\`, "Content-Type": "application/json" },
  body: JSON.stringify(${inner(body, "  ")}),
});
const { authorizationId, policyDecision } = await reply.json();
console.log(authorizationId, policyDecision.outcome, policyDecision.reasons);`,
    },
    {
      name: "Python",
      label: "With Python",
      text: `# COUNTERSIGN_API_KEY holds ${keyLine(reader)}
import os, requests

reply = requests.post(
    "${url}",
    headers={"Authorization": f"Bearer {os.environ['COUNTERSIGN_API_KEY']}"},
    json=${inner(body, "    ")},
)
answer = reply.json()
print(answer["authorizationId"], answer["policyDecision"]["outcome"], answer["policyDecision"]["reasons"])`,
    },
  ];
}

/** What the page shows of docs/start/first-agent.md. Links keep their text alone, because the files are not served. */
export function firstAgentIn(document: string) {
  const blocks = [...document.matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm)].map(([, language, code = ""]) => ({ language, code }));
  const rows = [...document.matchAll(/^\| (?!for )(.*?) \| (.*) \|$/gm)];
  return {
    program: blocks.find(({ language }) => language === "js")?.code ?? "",
    command: blocks.findLast(({ language }) => language === "sh")?.code ?? "",
    uses: rows.map(([, purpose = "", use = ""]) => [purpose, use.replaceAll(/\[(.*?)\]\(.*?\)/g, "$1")] as const),
  };
}
