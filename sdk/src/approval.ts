import type { Context } from "./context.ts";
import { ApprovalDeclined, ApprovalExpired, ApprovalRequired, AuthorizationEnded, ServiceRefused } from "./errors.ts";
import type { Authorization, Checkout, CheckoutStatus } from "./operations.ts";
import { pause } from "./service.ts";

const PAUSE_MS = 250;

const isOpen = (status: CheckoutStatus): boolean => status === "previewed" || status === "awaiting_approval";
const isApproved = (status: CheckoutStatus): boolean => ["approved", "authorized", "executing", "completed"].includes(status);

/** Whether a person approved. False while nobody has decided. @throws ApprovalDeclined, ApprovalExpired, AuthorizationEnded */
async function isApprovedAt({ service }: Context, path: string, signal?: AbortSignal): Promise<boolean> {
  const { body } = await service.get<Checkout>(path, signal);
  const { status } = body.intent;
  if (isApproved(status)) return true;
  if (status === "rejected") throw new ApprovalDeclined("A person declined this payment. Do not ask again.");
  if (status === "expired")
    throw new ApprovalExpired("Nobody decided about this payment in time. Ask again, once, under another operation.");
  if (!isOpen(status)) throw new AuthorizationEnded(`The request for approval is ${status}. Nothing was paid.`);
  return false;
}

/**
 * Waits until a person decides about a checkout, or until it expires. `onApproval` is called only if nobody has decided yet or
 * the key may not read the decision. @throws ApprovalRequired, ApprovalDeclined, ApprovalExpired, AuthorizationEnded;
 * ServiceRefused if the key may not read the decision
 */
export async function awaitPerson(
  context: Context,
  { url, path }: { readonly url: string; readonly path: string },
  signal?: AbortSignal,
): Promise<void> {
  const [withoutWaiting = path] = path.split("?");
  // A key without checkouts:read cannot read the decision, but `onApproval` can still give the page's address to a person.
  const unread = (error: unknown): boolean => {
    if (error instanceof ServiceRefused && error.code === "capability_required") return false;
    throw error;
  };
  if (await isApprovedAt(context, withoutWaiting, signal).catch(unread)) return;
  if ((await context.onApproval?.({ url })) === "stop") throw new ApprovalRequired(url);
  // The service may answer at once although nobody has decided, so pause between two requests.
  while (!(await isApprovedAt(context, path, signal))) await pause(PAUSE_MS, signal);
}

/**
 * Waits for the decision that an authorization asks for. Returns the id of the authorization to execute: that of an earlier
 * authorization if its request for approval of the same payment was still open.
 * @throws as awaitPerson
 */
export async function awaitApproval(context: Context, authorization: Authorization, signal?: AbortSignal): Promise<string> {
  const asking = authorization.policyDecision.reasons.find(({ effect, href }) => effect === "approval" && href !== undefined);
  if (!asking?.href || !asking.pollWith)
    throw new AuthorizationEnded("A person must approve this payment, and no request is open.");
  await awaitPerson(context, { url: asking.href, path: asking.pollWith.path }, signal);
  const next = asking.next?.body?.["authorizationId"];
  return typeof next === "string" ? next : authorization.authorizationId;
}
