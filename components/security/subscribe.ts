/** Whether this browser can receive push messages: "none" if it cannot, "blocked" if the person has forbidden them. */
export type Support = "none" | "blocked" | "ready";

export function supportOf(): Support {
  if (!("serviceWorker" in navigator) || !("PushManager" in window) || !("Notification" in window)) return "none";
  return Notification.permission === "denied" ? "blocked" : "ready";
}

const bytesOf = (base64url: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64url.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));

const sameBytes = (one: ArrayBuffer | null | undefined, other: Uint8Array): boolean =>
  one instanceof ArrayBuffer && new Uint8Array(one).join() === other.join();

/** @throws Error if the person or the browser refuses */
export async function subscribe(applicationServerKey: string) {
  if ((await Notification.requestPermission()) !== "granted") throw new Error("Notifications are not allowed.");
  await navigator.serviceWorker.register("/sw.js");
  const { pushManager } = await navigator.serviceWorker.ready;
  const key = bytesOf(applicationServerKey);
  const old = await pushManager.getSubscription();
  // End a subscription for an earlier key of the service, because the browser would refuse the new one.
  if (old && !sameBytes(old.options.applicationServerKey, key)) await old.unsubscribe();
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  const { endpoint, keys } = subscription.toJSON();
  return { endpoint: endpoint ?? "", keys: { p256dh: keys?.["p256dh"] ?? "", auth: keys?.["auth"] ?? "" } };
}

/** The service has already deleted the subscription, so it does not matter if this fails. */
export async function unsubscribe(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration();
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}
