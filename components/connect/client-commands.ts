export function clientCommands(address: string) {
  const json = (value: unknown): string => JSON.stringify(value, null, 2);
  return [
    {
      name: "Claude Code",
      label: "Command for Claude Code",
      text: `claude mcp add --transport http countersign ${address}`,
    },
    {
      name: "VS Code",
      label: ".vscode/mcp.json",
      text: json({ servers: { countersign: { type: "http", url: address } } }),
    },
    {
      name: "Cursor",
      label: ".cursor/mcp.json",
      text: json({ mcpServers: { countersign: { url: address } } }),
    },
    {
      name: "Codex",
      label: "~/.codex/config.toml, then: codex mcp login countersign",
      text: `[mcp_servers.countersign]\nurl = "${address}"`,
    },
    {
      name: "With a key",
      label: "Any client that can send a header",
      text: json({ mcpServers: { countersign: { type: "http", url: address, headers: { Authorization: "Bearer csk_…" } } } }),
    },
  ] as const;
}

export type Preset = { readonly name: string; readonly redirectUris: readonly string[] };

export const presets: readonly Preset[] = [
  { name: "Claude Code", redirectUris: ["http://localhost/callback"] },
  { name: "VS Code", redirectUris: ["http://127.0.0.1/", "https://vscode.dev/redirect"] },
  { name: "Cursor", redirectUris: ["cursor://anysphere.cursor-mcp/oauth/callback"] },
  { name: "Codex", redirectUris: ["http://127.0.0.1/callback", "http://localhost/callback"] },
];
