/**
 * The service worker: shows messages about requests, opens them, and answers with an honest page while there is no connection. It stores
 * no other page, because pages show what only a signed-in person may see. It never decides a request.
 */

const OFFLINE = "/offline.html";
const CACHE = "offline-1";

const store = async () => (await caches.open(CACHE)).add(new Request(OFFLINE, { cache: "reload" }));

self.addEventListener("install", (event) => {
  event.waitUntil(store().then(() => self.skipWaiting()));
});

async function takeOver() {
  const old = (await caches.keys()).filter((name) => name !== CACHE);
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

self.addEventListener("activate", (event) => {
  event.waitUntil(takeOver());
});

/** The network's answer, whatever it is. Only if there is none, the page that says so. */
const load = (request) => fetch(request).catch(async () => (await caches.match(OFFLINE)) ?? Response.error());

self.addEventListener("fetch", (event) => {
  if (event.request.mode === "navigate") event.respondWith(load(event.request));
});

/* Messages */

const ID = /^[\w.:-]{1,128}$/;
const kinds = { halfTime: "Reminder: ", lastMinutes: "Last reminder: " };

function readMessage(data) {
  try {
    return data?.json() ?? {};
  } catch {
    return {};
  }
}

const isPath = (path) => typeof path === "string" && /^\/(?![/\\])/.test(path);

/** A message about anything else, such as a budget: its text comes with it. */
const otherNotice = ({ title, body, path }) => ({
  title: title ?? "Something needs your attention",
  body: body ?? "Open Countersign to see it.",
  path: isPath(path) ? path : "/",
  tag: isPath(path) ? path : undefined,
});

/** The second line names the payee only if the message does. Silent messages replace each other, and a reminder replaces the message before. */
function requestNotice({ checkoutIntentId, organizationId, kind, silent, payee, amount }) {
  const body = "Open it to see who asks, and to decide.";
  if (silent) return { title: "More payments wait for your approval", body, path: "/approvals", tag: organizationId };
  const text = `${kinds[kind] ?? ""}${amount ?? "a payment"} waits for your approval`;
  return {
    title: text.charAt(0).toUpperCase() + text.slice(1),
    body: payee ? `To ${payee}. Open it to decide.` : body,
    path: `/checkout/${checkoutIntentId}${ID.test(organizationId ?? "") ? `?organization=${organizationId}` : ""}`,
    tag: checkoutIntentId,
  };
}

const noticeOf = (message) => (ID.test(message.checkoutIntentId ?? "") ? requestNotice(message) : otherNotice(message));

async function show(message) {
  const { title, body, path, tag } = noticeOf(message);
  const silent = message.silent === true;
  await self.registration.showNotification(title, {
    body,
    silent,
    data: { path },
    icon: "/icons/192.png",
    badge: "/icons/badge-96.png",
    ...(tag && { tag, renotify: !silent }),
  });
  // A page that is opened later replaces the dot by the number of requests.
  if (Notification.permission === "granted") await self.navigator.setAppBadge?.();
}

self.addEventListener("push", (event) => {
  event.waitUntil(show(readMessage(event.data)));
});

async function open(url) {
  const windows = await self.clients.matchAll({ type: "window" });
  const { pathname } = new URL(url);
  const shown = windows.find((one) => new URL(one.url).pathname === pathname);
  await (shown ? shown.focus() : self.clients.openWindow(url));
}

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(new URL(event.notification.data?.path ?? "/", self.location.origin).href));
});

/** Browsers replace a subscription now and then. The service learns the new one, if the person is still signed in. */
async function subscribeAgain({ oldSubscription, newSubscription }) {
  const options = oldSubscription?.options;
  const subscription = newSubscription ?? (options && (await self.registration.pushManager.subscribe(options)));
  if (!subscription) return;
  const { endpoint, keys } = subscription.toJSON();
  await fetch("/api/v1/auth/devices", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ endpoint, keys }),
  });
}

self.addEventListener("pushsubscriptionchange", (event) => {
  event.waitUntil(subscribeAgain(event));
});
