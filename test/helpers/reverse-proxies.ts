import { execFile, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { codeOf } from "#test/page-code.ts";
import { whenEnded } from "#test/when-ended.ts";

const run = promisify(execFile);

export type Proxy = { readonly name: string; readonly checksHealth: boolean; readonly line: (folder: string) => string[] };

/** The proxies of docs/operate/proxies.md. `line` starts one with the file `configuration` of a folder. */
export const proxies: readonly Proxy[] = [
  { name: "nginx", checksHealth: false, line: (folder) => ["nginx", "-p", folder, "-c", join(folder, "main"), "-e", "stderr"] },
  { name: "HAProxy", checksHealth: true, line: (folder) => ["haproxy", "-db", "-f", join(folder, "configuration")] },
  {
    name: "Caddy",
    checksHealth: true,
    line: (folder) => ["caddy", "run", "--adapter", "caddyfile", "--config", join(folder, "configuration")],
  },
];

const nginxMain = (folder: string): string => `
daemon off;
pid ${folder}/pid;
events {}
http {
  access_log off;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join("\n  ")}
  include ${folder}/configuration;
}
`;

/** Tests are no place to ask for a certificate, and have no port 80. */
const caddyGlobals = "{\n  admin off\n  skip_install_trust\n  auto_https disable_redirects\n}\n";

/** The configuration of the page, with the addresses, ports and files of a test. Each of them must stand in the page. */
async function configurationOf({ name }: Proxy, folder: string, port: number, servers: readonly string[]): Promise<string> {
  let [text] = await codeOf("proxies.md", name, name.toLowerCase());
  const replaced: Readonly<Record<string, readonly [from: string, to: string][]>> = {
    nginx: [["listen 443 ssl", `listen ${port} ssl`]],
    HAProxy: [["bind :443", `bind :${port}`]],
    Caddy: [["pay.example.com", `localhost:${port}`]],
  };
  const files: [string, string][] = name === "Caddy" ? [] : [["/etc/countersign/tls", `${folder}/tls`]];
  const processes = servers.map((url, at): [string, string] => [`10.0.0.1${at + 1}:3000`, new URL(url).host]);
  for (const [from, to] of [...replaced[name]!, ...files, ...processes]) {
    if (!text.includes(from)) throw new Error(`The page no longer has ${from}.`);
    text = text.replaceAll(from, to);
  }
  return name === "Caddy" ? caddyGlobals + text : text;
}

async function makeCertificate(folder: string): Promise<void> {
  const [key, certificate] = [join(folder, "tls.key"), join(folder, "tls.crt")];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"];
  await run("openssl", [...made, "-keyout", key, "-out", certificate]);
  await writeFile(join(folder, "tls.pem"), (await readFile(certificate, "utf8")) + (await readFile(key, "utf8")));
}

/** Starts the proxy in front of these servers, listening on the port. */
export async function startProxy(proxy: Proxy, folder: string, port: number, servers: readonly string[]) {
  await makeCertificate(folder);
  await writeFile(join(folder, "configuration"), await configurationOf(proxy, folder, port, servers));
  await writeFile(join(folder, "main"), nginxMain(folder));
  const [program = "", ...words] = proxy.line(folder);
  const child = spawn(program, words, {
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const keep = whenEnded("kill", "-TERM", String(child.pid));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  return {
    /** As the page says for nginx: marks a process as down, and reloads. */
    async takeOut(url: string) {
      const file = join(folder, "configuration");
      const { host } = new URL(url);
      await writeFile(file, (await readFile(file, "utf8")).replace(`server ${host}`, `server ${host} down`));
      child.kill("SIGHUP");
    },
    async stop() {
      child.kill("SIGTERM");
      await ended;
      keep();
    },
  };
}
