const networks: Readonly<Record<string, string>> = {
  "eip155:1": "Ethereum",
  "eip155:8453": "Base",
  "eip155:84532": "Base Sepolia",
  "eip155:31337": "Local test chain",
};

export const networkName = (chain: string): string => networks[chain] ?? "Network";
