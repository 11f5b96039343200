import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { CDPSession, Page } from "@playwright/test";
import { expect, expectAccessible, test } from "./setup/journey.ts";

test.use({ serviceWorkers: "allow" });

type Versions = { readonly versions: readonly { readonly registrationId: string; readonly status: string }[] };

const activeRegistration = (session: CDPSession): Promise<string> =>
  new Promise((done) => {
    session.on("ServiceWorker.workerVersionUpdated", ({ versions }: Versions) => {
      const found = versions.find(({ status }) => status === "activated");
      if (found) done(found.registrationId);
    });
  });

/** Waits until a service worker controls the page. The returned `push` delivers a push message to the worker. */
async function worker(page: Page) {
  const session = await page.context().newCDPSession(page);
  const active = activeRegistration(session);
  await session.send("ServiceWorker.enable");
  const registrationId = await active;
  const { origin } = new URL(page.url());
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  return {
    push: (message: unknown) =>
      session.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data: JSON.stringify(message) }),
  };
}

test.describe("the service as an app", () => {
  test("can be installed: it has a manifest, whose icons exist", async ({ page, request }) => {
    await page.goto("/sign-in");
    const href = await page.locator("link[rel=manifest]").getAttribute("href");
    const reply = await request.get(href ?? "");
    expect(reply.headers()["content-type"]).toContain("application/manifest+json");
    const manifest = (await reply.json()) as { start_url: string; display: string; icons: { src: string; sizes: string }[] };
    expect(manifest).toMatchObject({ start_url: "/approvals", display: "standalone" });
    for (const { src, sizes } of manifest.icons) {
      const icon = await (await request.get(src)).body();
      expect(`${icon.readUInt32BE(16)}x${icon.readUInt32BE(20)}`).toBe(sizes);
    }
    await expect(page.locator("link[rel=apple-touch-icon]")).toHaveAttribute("href", "/icons/apple-180.png");
    await expect(page.locator("link[rel=icon]")).toHaveAttribute("href", /icon\.svg/);
    const session = await page.context().newCDPSession(page);
    const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
    expect(installabilityErrors.filter(({ errorId }) => errorId !== "in-incognito")).toEqual([]);
  });

  test("says without a connection that nothing happened, and shows the page when the connection is back", async ({
    page,
    context,
  }) => {
    await page.goto("/sign-in");
    await worker(page);
    await context.setOffline(true);
    await page.goto("/approvals");
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("No connection to Countersign");
    await expect(page.getByText("nothing was approved or declined")).toBeVisible();
    await context.setOffline(false);
    await page.getByRole("link", { name: "Try again" }).click();
    await expect(page).toHaveURL(/\/sign-in/);
    await page.goto("/offline.html");
    await expectAccessible(page);
  });
});

/**
 * Changes to the service worker for tests. A headless browser shows no notifications, and a script cannot click one. So the
 * worker sends to the page what it would show, and the page tells the worker what was clicked. All other code of the worker
 * stays as it is.
 */
const RECORDER = `
const tell = async (what) => {
  for (const one of await self.clients.matchAll({ includeUncontrolled: true })) one.postMessage(what);
};
self.registration.showNotification = (title, options) => tell({ title, ...options });
self.clients.openWindow = (url) => tell({ opened: url });
self.addEventListener("message", ({ data }) => {
  const notification = { data: data.clicked, close: () => tell({ closed: true }) };
  if (data.clicked) self.dispatchEvent(Object.assign(new Event("notificationclick"), { notification, waitUntil() {} }));
  const newSubscription = { toJSON: () => ({ ...data.changed, expirationTime: null }) };
  if (data.changed) self.dispatchEvent(Object.assign(new Event("pushsubscriptionchange"), { newSubscription, waitUntil() {} }));
});
`;

const PAGE = `<!doctype html><title>Test</title><script>
self.said = [];
navigator.serviceWorker.addEventListener("message", ({ data }) => said.push(data));
navigator.serviceWorker.startMessages();
navigator.serviceWorker.register("/sw.js");
</script>`;

type Said = Readonly<Record<string, unknown>>;

/** Opens a page with the changed service worker at a separate address, and records the POST requests to that address. */
async function openWorkerPage(page: Page) {
  const text = RECORDER + (await readFile(join(import.meta.dirname, "../public/sw.js"), "utf8"));
  const posted: unknown[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (request.method === "POST") posted.push([request.url, JSON.parse(Buffer.concat(chunks).toString())]);
      const isScript = request.url === "/sw.js";
      response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" }).end(isScript ? text : PAGE);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await page.goto(origin);
  const { push } = await worker(page);
  return {
    origin,
    push,
    posted,
    said: () => page.evaluate<Said[]>("self.said"),
    post: (message: unknown) => page.evaluate((data) => navigator.serviceWorker.controller?.postMessage(data), message),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

test.describe("the service worker", () => {
  const message = { type: "request", kind: "opened", checkoutIntentId: "cki_1", organizationId: "org_1", silent: false };

  test("shows a message about a request without a button that decides, and a click opens the request", async ({ page }) => {
    const { push, said, post, origin, close } = await openWorkerPage(page);
    await push(message);
    const data = { path: "/checkout/cki_1?organization=org_1" };
    const first = { title: "A payment waits for your approval", body: "Open it to see who asks, and to decide." };
    await expect.poll(said).toEqual([expect.objectContaining({ ...first, tag: "cki_1", renotify: true, silent: false, data })]);
    expect((await said())[0]).not.toHaveProperty("actions");
    await push({ ...message, kind: "lastMinutes", payee: "shop.example", amount: "28.00 USDC" });
    const last = { title: "Last reminder: 28.00 USDC waits for your approval", body: "To shop.example. Open it to decide." };
    await expect.poll(async () => (await said()).at(-1)).toMatchObject({ ...last, tag: "cki_1", data });
    await post({ clicked: data });
    await expect
      .poll(async () => (await said()).slice(-2))
      .toEqual([{ closed: true }, { opened: `${origin}/checkout/cki_1?organization=org_1` }]);
    close();
  });

  test("puts silent messages into one notification, and a click on it opens the list", async ({ page }) => {
    const { push, said, close } = await openWorkerPage(page);
    await push({ ...message, silent: true, payee: "shop.example", amount: "28.00 USDC" });
    const silent = { title: "More payments wait for your approval", tag: "org_1", silent: true, data: { path: "/approvals" } };
    await expect.poll(said).toEqual([expect.objectContaining({ ...silent, renotify: false })]);
    close();
  });

  test("never leads to another site", async ({ page }) => {
    const { push, said, close } = await openWorkerPage(page);
    for (const path of ["https://evil.example/x", "//evil.example", "/\\evil.example"])
      await push({ checkoutIntentId: "../../evil", path });
    await expect.poll(async () => (await said()).length).toBe(3);
    for (const one of await said()) expect(one).toMatchObject({ title: "Something needs your attention", data: { path: "/" } });
    close();
  });

  test("tells the service the new subscription when the browser replaces one", async ({ page }) => {
    const { post, posted, close } = await openWorkerPage(page);
    const changed = { endpoint: "https://push.example.com/new", keys: { p256dh: "a", auth: "b" } };
    await post({ changed });
    await expect.poll(() => posted).toEqual([["/api/v1/auth/devices", changed]]);
    close();
  });
});
