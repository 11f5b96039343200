import { spawn } from "node:child_process";

/** Opens a URL in the browser if the output goes to a terminal, because then a person is there. */
export function openPage(url: string): void {
  if (!process.stdout.isTTY) return;
  const opener = process.platform === "darwin" ? "open" : process.platform === "win32" ? "explorer" : "xdg-open";
  spawn(opener, [url], { stdio: "ignore", detached: true })
    .on("error", () => {})
    .unref();
}
