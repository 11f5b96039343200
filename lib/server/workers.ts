import { ALERT, alertMessageOf } from "#lib/alerts/alert-message.ts";
import { forgetOldAlerts } from "#lib/alerts/alert-store.ts";
import { followUsage } from "#lib/alerts/follow-usage.ts";
import { noteLowBalances } from "#lib/alerts/note-operations.ts";
import { sendAlerts } from "#lib/alerts/send-alerts.ts";
import { signCheckpoints } from "#lib/audit/sign-checkpoints.ts";
import { forgetOldReplies } from "#lib/command/idempotency-store.ts";
import { followOrders } from "#lib/commerce/follow-orders.ts";
import { sweepCheckouts } from "#lib/commerce/sweep-checkouts.ts";
import { forgetOldSessions } from "#lib/identity/sessions/forget-old-sessions.ts";
import { flushKeyUses } from "#lib/identity/keys/key-uses.ts";
import { forgetOldCommits } from "#lib/health/replication.ts";
import { sendMails } from "#lib/mail/send-mails.ts";
import { forgetOldMails } from "#lib/mail/store.ts";
import { confirmRegistrations } from "#lib/onchain/registration/confirm-registrations.ts";
import { forgetOldBuckets } from "#lib/mandates/window-store.ts";
import { relay } from "#lib/onchain/relay/relay-worker.ts";
import { followRevocations } from "#lib/onchain/registration/revoke-registrations.ts";
import { watchSenders } from "#lib/onchain/senders.ts";
import { followEvents } from "#lib/notices/follow-events.ts";
import { requestMessageOf } from "#lib/notices/push-requests.ts";
import { forgetOldNotices } from "#lib/notices/outbox-store.ts";
import { forgetOldPurchases } from "#lib/mcp/purchase-store.ts";
import { sendNotices, stillWanted } from "#lib/notices/send-notices.ts";
import { onWake } from "#lib/notices/wake.ts";
import { bringAllForward } from "#lib/platform/due-time-store.ts";
import { sendPushes, type MessageOf } from "#lib/push/send-pushes.ts";
import { forgetOldPushes } from "#lib/push/store.ts";
import { forgetOldChallenges } from "#lib/sellers/pay-to-store.ts";
import { forgetOldOffers } from "#lib/sellers/seen-offer-store.ts";
import { followTransactions } from "#lib/settlement/follow-transactions.ts";
import { freeNonceSlots } from "#lib/settlement/free-nonce-slots.ts";
import { reconcilePlain } from "#lib/settlement/reconcile-plain.ts";
import { reconcile } from "#lib/settlement/reconcile.ts";
import { askAboutOverdue, sweepHolds } from "#lib/settlement/sweep.ts";
import { forgetOldTransactions } from "#lib/settlement/transaction-store.ts";
import { watchSettlements } from "#lib/settlement/watch-settlements.ts";
import { resealCardSecrets, sweepCards } from "#lib/cards/sweep-cards.ts";
import { resealSecrets } from "#lib/webhooks/reseal-secrets.ts";
import { forgetOldDeliveries } from "#lib/webhooks/outbox-store.ts";
import { endWebhooks, sendWebhooks } from "#lib/webhooks/send-webhooks.ts";
import { every, type Worker } from "#lib/server/every.ts";
import { watchDatabase } from "#lib/server/watch-database.ts";
import { atMost } from "#lib/time.ts";

const RECONCILE_EVERY_MS = 500;
const RELAY_EVERY_MS = 500;
const SENDERS_EVERY_MS = 30_000;
const REGISTRATIONS_EVERY_MS = 1_000;
const ORDERS_EVERY_MS = 1_000;
const SWEEP_EVERY_MS = 10_000;
const PLAIN_EVERY_MS = 3_000;
const FORGET_EVERY_MS = 3_600_000;
/** Old purchases contain answers of sellers, which can be large. */
const PURCHASES_EVERY_MS = 60_000;
const KEY_USES_EVERY_MS = 60_000;
const DUE_TIMES_EVERY_MS = 60_000;
/** Messages that sendNotices stores wake their workers in this process; other messages wait up to SENDING_IDLE_MS. */
const SENDING_EVERY_MS = 100;
const SENDING_IDLE_MS = 500;
const ALERTS_EVERY_MS = 5_000;
const WEBHOOKS_EVERY_MS = 500;
const RESEAL_EVERY_MS = 60_000;
const WEBHOOKS_END_MS = 5_000;
const NOTICES_EVERY_MS = 250;
/** A decided payment or a previewed checkout wakes this process's worker; this pause is for other events and due notices. */
const NOTICES_IDLE_MS = 1_000;
const SESSIONS_EVERY_MS = 600_000;
const CHECKPOINTS_EVERY_MS = 60_000;
const DATABASE_EVERY_MS = 5_000;
const OVERDUE_EVERY_MS = 60_000;

/** Call only once per process. */
export function startWorkers(): Pick<Worker, "stop"> {
  const mailing = every(SENDING_EVERY_MS, "sendMails", () => sendMails(stillWanted), { idleMs: SENDING_IDLE_MS });
  const contentOf: MessageOf = (push) => (push.kind === ALERT ? alertMessageOf(push) : requestMessageOf(push));
  const pushing = every(SENDING_EVERY_MS, "sendPushes", () => sendPushes(contentOf), { idleMs: SENDING_IDLE_MS });
  const tell = async () => {
    await followEvents();
    if ((await sendNotices()) === 0) return;
    mailing.wake();
    pushing.wake();
  };
  const notices = every(NOTICES_EVERY_MS, "sendNotices", tell, { idleMs: NOTICES_IDLE_MS });
  onWake(notices.wake);
  const workers = [
    every(RECONCILE_EVERY_MS, "reconcile", reconcile),
    every(RECONCILE_EVERY_MS, "followTransactions", followTransactions),
    every(SWEEP_EVERY_MS, "watchSettlements", watchSettlements),
    every(FORGET_EVERY_MS, "forgetOldTransactions", forgetOldTransactions),
    every(REGISTRATIONS_EVERY_MS, "confirmRegistrations", confirmRegistrations),
    every(ORDERS_EVERY_MS, "followOrders", followOrders),
    every(SWEEP_EVERY_MS, "sweep", sweepHolds),
    every(SWEEP_EVERY_MS, "sweepCheckouts", sweepCheckouts),
    every(PLAIN_EVERY_MS, "reconcilePlain", reconcilePlain),
    every(SWEEP_EVERY_MS, "freeSlots", freeNonceSlots),
    every(FORGET_EVERY_MS, "forgetOldReplies", forgetOldReplies),
    every(FORGET_EVERY_MS, "forgetOldBuckets", forgetOldBuckets),
    every(PURCHASES_EVERY_MS, "forgetOldPurchases", forgetOldPurchases),
    every(FORGET_EVERY_MS, "forgetOldOffers", forgetOldOffers),
    every(FORGET_EVERY_MS, "forgetOldChallenges", forgetOldChallenges),
    every(KEY_USES_EVERY_MS, "flushKeyUses", flushKeyUses),
    every(DUE_TIMES_EVERY_MS, "bringForward", bringAllForward),
    every(RELAY_EVERY_MS, "relay", relay),
    every(RELAY_EVERY_MS, "followRevocations", followRevocations),
    every(SENDERS_EVERY_MS, "watchSenders", async () => {
      await watchSenders();
      await noteLowBalances();
    }),
    notices,
    every(FORGET_EVERY_MS, "forgetOldNotices", forgetOldNotices),
    mailing,
    every(FORGET_EVERY_MS, "forgetOldMails", forgetOldMails),
    pushing,
    every(ALERTS_EVERY_MS, "followUsage", followUsage),
    every(ALERTS_EVERY_MS, "sendAlerts", sendAlerts),
    every(FORGET_EVERY_MS, "forgetOldAlerts", forgetOldAlerts),
    every(FORGET_EVERY_MS, "forgetOldPushes", forgetOldPushes),
    every(WEBHOOKS_EVERY_MS, "sendWebhooks", sendWebhooks),
    every(RESEAL_EVERY_MS, "resealSecrets", resealSecrets),
    every(FORGET_EVERY_MS, "forgetOldDeliveries", forgetOldDeliveries),
    every(OVERDUE_EVERY_MS, "askAboutOverdue", askAboutOverdue),
    every(OVERDUE_EVERY_MS, "sweepCards", sweepCards),
    every(RESEAL_EVERY_MS, "resealCardSecrets", resealCardSecrets),
    every(SESSIONS_EVERY_MS, "forgetOldSessions", forgetOldSessions),
    every(CHECKPOINTS_EVERY_MS, "signCheckpoints", signCheckpoints),
    every(DATABASE_EVERY_MS, "watchDatabase", watchDatabase),
    every(FORGET_EVERY_MS, "forgetOldCommits", forgetOldCommits),
  ];
  return {
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()));
      // Webhook messages that take longer are sent again when their lease ends.
      await atMost(endWebhooks(), WEBHOOKS_END_MS, undefined);
    },
  };
}
