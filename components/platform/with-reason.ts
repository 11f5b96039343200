import { z } from "zod";
import * as billing from "#lib/billing/contract.ts";
import * as platform from "#lib/platform/contract.ts";
import { REASON_MIN } from "./role-words.ts";

/* The forms of these operations require a reason with REASON_MIN characters; the service does not. */

const Reason = z.string().trim().min(REASON_MIN, `Write at least ${REASON_MIN} characters.`).max(500);
const metadata = z.strictObject({ reason: Reason });

export const assignSubscription = { ...billing.assignSubscription, body: billing.assignSubscription.body.extend({ metadata }) };

export const saveFeeSchedule = { ...billing.saveFeeSchedule, body: billing.saveFeeSchedule.body.extend({ metadata }) };

export const updateUserRoles = { ...platform.updateUserRoles, body: platform.updateUserRoles.body.extend({ reason: Reason }) };
