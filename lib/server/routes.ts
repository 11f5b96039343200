/** All operations that are served, with their handlers. */
import { createDispatch, mount, type Mounted } from "#lib/server/dispatch.ts";
import { route, type Route } from "#lib/api/route.ts";
import { METRICS_PATH, metricsMethods } from "#lib/server/serve-metrics.ts";
import { OPENAPI_PATH, openApiMethods } from "#lib/server/serve-openapi.ts";
import * as audit from "#lib/audit/contract.ts";
import { listAuditEvents } from "#lib/audit/list-audit-events.ts";
import { verifyAudit } from "#lib/audit/verify-audit.ts";
import { assignSubscription } from "#lib/billing/assign-subscription.ts";
import * as billing from "#lib/billing/contract.ts";
import { listFeeSchedules } from "#lib/billing/list-fee-schedules.ts";
import { listFees } from "#lib/billing/list-fees.ts";
import { quoteFee } from "#lib/billing/quote-fee.ts";
import { saveFeeSchedule } from "#lib/billing/save-fee-schedule.ts";
import { checkReadiness } from "#lib/commerce/check-readiness.ts";
import * as readiness from "#lib/commerce/readiness-contract.ts";
import { approveCheckout } from "#lib/commerce/approve-checkout.ts";
import { cancelCheckout } from "#lib/commerce/cancel-checkout.ts";
import * as commerce from "#lib/approvals/contract.ts";
import { continueCheckout } from "#lib/commerce/continue-checkout.ts";
import * as orders from "#lib/commerce/order-contract.ts";
import { placeOrder } from "#lib/commerce/place-order.ts";
import { getCheckout } from "#lib/commerce/get-checkout.ts";
import { previewCheckout } from "#lib/commerce/preview-checkout.ts";
import { rejectCheckout } from "#lib/commerce/reject-checkout.ts";
import { checkLiveness } from "#lib/health/check-liveness.ts";
import { checkReadinessOfService } from "#lib/health/check-readiness-of-service.ts";
import * as health from "#lib/health/contract.ts";
import { activateOrganization } from "#lib/identity/sessions/activate-organization.ts";
import { completeOnboarding } from "#lib/identity/sessions/complete-onboarding.ts";
import * as identity from "#lib/identity/contract.ts";
import { createServiceAccount } from "#lib/identity/keys/create-service-account.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { cancelInvitation } from "#lib/identity/members/cancel-invitation.ts";
import { inviteMember } from "#lib/identity/members/invite-member.ts";
import { listServiceAccounts } from "#lib/identity/keys/list-service-accounts.ts";
import * as members from "#lib/identity/members/member-contract.ts";
import * as organizations from "#lib/identity/members/organization-contract.ts";
import { removeMember } from "#lib/identity/members/remove-member.ts";
import { revokeServiceAccount } from "#lib/identity/keys/revoke-service-account.ts";
import { rotateServiceAccountKey } from "#lib/identity/keys/rotate-service-account-key.ts";
import { setStepUpThreshold } from "#lib/identity/members/set-step-up-threshold.ts";
import { authMounted } from "#lib/server/serve-auth.ts";
import { updateMember } from "#lib/identity/members/update-member.ts";
import * as passkeys from "#lib/identity/passkeys/passkey-contract.ts";
import * as security from "#lib/identity/sessions/security-contract.ts";
import { challengePasskey } from "#lib/approvals/challenge-passkey.ts";
import { confirmIdentity } from "#lib/identity/sessions/confirm-identity.ts";
import { registerPasskey } from "#lib/identity/passkeys/register-passkey.ts";
import { addPasskey } from "#lib/identity/passkeys/add-passkey.ts";
import { renamePasskey } from "#lib/identity/passkeys/rename-passkey.ts";
import { removePasskey } from "#lib/identity/passkeys/remove-passkey.ts";
import { endSession } from "#lib/identity/sessions/end-session.ts";
import { endOtherSessions } from "#lib/identity/sessions/end-other-sessions.ts";
import { changePassword } from "#lib/identity/sessions/change-password.ts";
import { activateMandate } from "#lib/mandates/lifecycle/activate-mandate.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { createMandate } from "#lib/mandates/lifecycle/create-mandate.ts";
import { getMandate } from "#lib/mandates/get-mandate.ts";
import { listMandateLedger } from "#lib/mandates/list-mandate-ledger.ts";
import { listMandates } from "#lib/mandates/list-mandates.ts";
import { resumeMandate } from "#lib/mandates/lifecycle/resume-mandate.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { simulateMandate } from "#lib/payments/simulate-mandate.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { authorizePayment } from "#lib/payments/authorize-payment.ts";
import * as onchain from "#lib/onchain/registry/contract.ts";
import { listDeployments } from "#lib/onchain/registry/list-deployments.ts";
import { prepareRegistration } from "#lib/onchain/registration/prepare-registration.ts";
import { registerMandate } from "#lib/onchain/registration/register-mandate.ts";
import * as registrations from "#lib/onchain/registry/registration-contract.ts";
import * as payments from "#lib/payments/contract.ts";
import { executePayment } from "#lib/execute/execute-payment.ts";
import { getExecution } from "#lib/payments/get-execution.ts";
import { getPayment } from "#lib/payments/get-payment.ts";
import { listPayments } from "#lib/payments/list-payments.ts";
import * as platformAudit from "#lib/platform/audit-contract.ts";
import { banUser } from "#lib/platform/ban-user.ts";
import { claimPlatform } from "#lib/platform/claim-platform.ts";
import * as platform from "#lib/platform/contract.ts";
import * as search from "#lib/search/contract.ts";
import { searchOrganization } from "#lib/search/search-organization.ts";
import * as emergency from "#lib/platform/emergency-contract.ts";
import { emergencyRevoke } from "#lib/platform/emergency-revoke.ts";
import { listPlatformAuditEvents } from "#lib/platform/list-platform-audit-events.ts";
import { listUsers } from "#lib/platform/list-users.ts";
import { recheckExecution } from "#lib/platform/recheck-execution.ts";
import { revokeUserSessions } from "#lib/platform/revoke-user-sessions.ts";
import { unbanUser } from "#lib/platform/unban-user.ts";
import { updateUserRoles } from "#lib/platform/update-user-roles.ts";
import * as users from "#lib/platform/user-contract.ts";
import { verifyPlatformAudit } from "#lib/platform/verify-platform-audit.ts";
import { verifySeller } from "#lib/platform/verify-seller.ts";
import { archiveResource } from "#lib/sellers/archive-resource.ts";
import * as sellers from "#lib/sellers/contract.ts";
import { getResource } from "#lib/sellers/get-resource.ts";
import { getSeller } from "#lib/sellers/get-seller.ts";
import { listResources } from "#lib/sellers/list-resources.ts";
import { listSellers } from "#lib/sellers/list-sellers.ts";
import { registerSeller } from "#lib/sellers/register-seller.ts";
import { challengePayTo } from "#lib/sellers/challenge-pay-to.ts";
import * as payTos from "#lib/sellers/pay-to-contract.ts";
import { provePayTo } from "#lib/sellers/prove-pay-to.ts";
import { probeResource } from "#lib/sellers/probe-resource.ts";
import { upsertPaidResource } from "#lib/sellers/upsert-paid-resource.ts";
import { verifySellerDomain } from "#lib/sellers/verify-seller-domain.ts";
import { stepUp } from "#lib/approvals/step-up.ts";
import * as settlements from "#lib/settlement/contract.ts";
import { listSettlements } from "#lib/pages/list-settlements.ts";
import { facilitatorMounted } from "#lib/server/serve-facilitator.ts";

export const routes: readonly Route[] = [
  route(payments.authorizePayment, authorizePayment),
  route(payments.executePayment, executePayment),
  route(payments.listPayments, listPayments),
  route(settlements.listSettlements, listSettlements),
  route(payments.getPayment, getPayment),
  route(payments.getExecution, getExecution),
  route(readiness.checkReadiness, checkReadiness),
  route(commerce.previewCheckout, previewCheckout),
  route(commerce.getCheckout, getCheckout),
  route(commerce.approveCheckout, approveCheckout),
  route(commerce.rejectCheckout, rejectCheckout),
  route(commerce.cancelCheckout, cancelCheckout),
  route(orders.continueCheckout, continueCheckout),
  route(orders.placeOrder, placeOrder),
  route(mandates.createMandate, createMandate),
  route(mandates.listMandates, listMandates),
  route(mandates.getMandate, getMandate),
  route(mandates.updateMandate, updateMandate),
  route(mandates.activateMandate, activateMandate),
  route(mandates.resumeMandate, resumeMandate),
  route(mandates.suspendMandate, suspendMandate),
  route(mandates.revokeMandate, revokeMandate),
  route(mandates.simulateMandate, simulateMandate),
  route(mandates.listMandateLedger, listMandateLedger),
  route(sellers.registerSeller, registerSeller),
  route(sellers.listSellers, listSellers),
  route(sellers.getSeller, getSeller),
  route(sellers.verifySellerDomain, verifySellerDomain),
  route(sellers.upsertPaidResource, upsertPaidResource),
  route(sellers.listResources, listResources),
  route(sellers.getResource, getResource),
  route(sellers.archiveResource, archiveResource),
  route(search.searchOrganization, searchOrganization),
  route(sellers.probeResource, probeResource),
  route(payTos.challengePayTo, challengePayTo),
  route(payTos.provePayTo, provePayTo),
  route(billing.quoteFee, quoteFee),
  route(billing.saveFeeSchedule, saveFeeSchedule),
  route(billing.listFeeSchedules, listFeeSchedules),
  route(billing.listFees, listFees),
  route(billing.assignSubscription, assignSubscription),
  route(identity.getSession, getSession),
  route(identity.completeOnboarding, completeOnboarding),
  route(identity.activateOrganization, activateOrganization),
  route(identity.createServiceAccount, createServiceAccount),
  route(identity.listServiceAccounts, listServiceAccounts),
  route(identity.rotateServiceAccountKey, rotateServiceAccountKey),
  route(identity.revokeServiceAccount, revokeServiceAccount),
  route(identity.stepUp, stepUp),
  route(members.inviteMember, inviteMember),
  route(members.cancelInvitation, cancelInvitation),
  route(members.updateMember, updateMember),
  route(members.removeMember, removeMember),
  route(organizations.setStepUpThreshold, setStepUpThreshold),
  route(passkeys.challengePasskey, challengePasskey),
  route(passkeys.confirmIdentity, confirmIdentity),
  route(passkeys.registerPasskey, registerPasskey),
  route(passkeys.addPasskey, addPasskey),
  route(passkeys.renamePasskey, renamePasskey),
  route(passkeys.removePasskey, removePasskey),
  route(security.endSession, endSession),
  route(security.endOtherSessions, endOtherSessions),
  route(security.changePassword, changePassword),
  route(platform.claimPlatform, claimPlatform),
  route(users.listUsers, listUsers),
  route(users.updateUserRoles, updateUserRoles),
  route(users.revokeUserSessions, revokeUserSessions),
  route(users.banUser, banUser),
  route(users.unbanUser, unbanUser),
  route(emergency.emergencyRevoke, emergencyRevoke),
  route(emergency.verifySeller, verifySeller),
  route(platformAudit.listPlatformAuditEvents, listPlatformAuditEvents),
  route(platformAudit.verifyPlatformAudit, verifyPlatformAudit),
  route(platformAudit.recheckExecution, recheckExecution),
  route(onchain.listDeployments, listDeployments),
  route(registrations.prepareRegistration, prepareRegistration),
  route(registrations.registerMandate, registerMandate),
  route(audit.listAuditEvents, listAuditEvents),
  route(audit.verifyAudit, verifyAudit),
  route(health.checkLiveness, checkLiveness),
  route(health.checkReadinessOfService, checkReadinessOfService),
];

const mounted: readonly Mounted[] = [
  ...mount(routes),
  ...authMounted,
  ...facilitatorMounted,
  { path: OPENAPI_PATH, methods: openApiMethods },
  { path: METRICS_PATH, methods: metricsMethods },
];

/** The server uses this for /api and /metrics, without a framework in between. */
export const dispatch = createDispatch(mounted);
