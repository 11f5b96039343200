/**
 * The schemes without a dot whose addresses may get authorization codes, each with the program that handles it on a device.
 * Any other scheme could open a part of the operating system instead of a program that asked for a code.
 */
export const APP_SCHEMES: ReadonlyMap<string, string> = new Map([
  ["claude", "Claude"],
  ["code-oss", "Code - OSS"],
  ["cursor", "Cursor"],
  ["cursor-nightly", "Cursor Nightly"],
  ["kiro", "Kiro"],
  ["mcpjam", "MCPJam"],
  ["raycast", "Raycast"],
  ["vscode", "Visual Studio Code"],
  ["vscode-insiders", "Visual Studio Code Insiders"],
  ["vscodium", "VSCodium"],
  ["warp", "Warp"],
  ["windsurf", "Windsurf"],
  ["zed", "Zed"],
]);

/** An installed program of a domain's owner: the domain reversed (RFC 8252, section 7.1), such as `com.example.app`. */
const REVERSED_DOMAIN = /^[a-z]{2,63}(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/;

/** `protocol` is that of a parsed URL, so it is in lower case and ends with a colon. */
export function isAppScheme(protocol: string): boolean {
  const scheme = protocol.slice(0, -1);
  return APP_SCHEMES.has(scheme) || REVERSED_DOMAIN.test(scheme);
}
