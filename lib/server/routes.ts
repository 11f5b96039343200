import { createDispatch, mount, type Mounted } from "#lib/server/dispatch.ts";
import { route } from "#lib/api/route.ts";
import type { Handler, Operation } from "#lib/http/operation.ts";
import { KEYS_PATH, keysMethods } from "#lib/server/serve-keys.ts";
import { METRICS_PATH, metricsMethods } from "#lib/server/serve-metrics.ts";
import { OPENAPI_PATH, openApiMethods } from "#lib/server/serve-openapi.ts";
import { listAuditEvents } from "#lib/audit/list-audit-events.ts";
import { listEvents } from "#lib/audit/list-events.ts";
import { verifyAudit } from "#lib/audit/verify-audit.ts";
import { assignSubscription } from "#lib/billing/assign-subscription.ts";
import { listFeeSchedules } from "#lib/billing/list-fee-schedules.ts";
import { listFees } from "#lib/billing/list-fees.ts";
import { quoteFee } from "#lib/billing/quote-fee.ts";
import { saveFeeSchedule } from "#lib/billing/save-fee-schedule.ts";
import { checkReadiness } from "#lib/commerce/check-readiness.ts";
import { approveCheckout } from "#lib/commerce/approve-checkout.ts";
import { cancelCheckout } from "#lib/commerce/cancel-checkout.ts";
import { continueCheckout } from "#lib/commerce/continue-checkout.ts";
import { placeOrder } from "#lib/commerce/place-order.ts";
import { extendCheckout } from "#lib/commerce/extend-checkout.ts";
import { getCheckout } from "#lib/commerce/get-checkout.ts";
import { previewCheckout } from "#lib/commerce/preview-checkout.ts";
import { rejectCheckout } from "#lib/commerce/reject-checkout.ts";
import { takeBackApproval } from "#lib/commerce/take-back-approval.ts";
import { checkLiveness } from "#lib/health/check-liveness.ts";
import { checkReadinessOfService } from "#lib/health/check-readiness-of-service.ts";
import { activateOrganization } from "#lib/identity/sessions/activate-organization.ts";
import { completeOnboarding } from "#lib/identity/sessions/complete-onboarding.ts";
import { createServiceAccount } from "#lib/identity/keys/create-service-account.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { cancelInvitation } from "#lib/identity/members/cancel-invitation.ts";
import { inviteMember } from "#lib/identity/members/invite-member.ts";
import { listServiceAccounts } from "#lib/identity/keys/list-service-accounts.ts";
import { removeMember } from "#lib/identity/members/remove-member.ts";
import { revokeServiceAccount } from "#lib/identity/keys/revoke-service-account.ts";
import { pauseServiceAccount } from "#lib/identity/keys/pause-service-account.ts";
import { resumeServiceAccount } from "#lib/identity/keys/resume-service-account.ts";
import { rotateServiceAccountKey } from "#lib/identity/keys/rotate-service-account-key.ts";
import { setStepUpThreshold } from "#lib/identity/members/set-step-up-threshold.ts";
import { connectAgent } from "#lib/identity/oauth/connect-agent.ts";
import { createAgentClient } from "#lib/identity/oauth/create-agent-client.ts";
import { endConnection } from "#lib/identity/oauth/end-connection.ts";
import { listAgentClients } from "#lib/identity/oauth/list-agent-clients.ts";
import { listConnections } from "#lib/identity/oauth/list-connections.ts";
import { removeAgentClient } from "#lib/identity/oauth/remove-agent-client.ts";
import { authMounted } from "#lib/server/serve-auth.ts";
import { oauthDocuments } from "#lib/server/serve-oauth.ts";
import { updateMember } from "#lib/identity/members/update-member.ts";
import { updateOrganization } from "#lib/identity/members/update-organization.ts";
import { challengePasskey } from "#lib/approvals/challenge-passkey.ts";
import { confirmIdentity } from "#lib/identity/passkeys/confirm-identity.ts";
import { registerPasskey } from "#lib/identity/passkeys/register-passkey.ts";
import { addPasskey } from "#lib/identity/passkeys/add-passkey.ts";
import { setMandateAlerts } from "#lib/alerts/set-mandate-alerts.ts";
import { addDevice } from "#lib/push/add-device.ts";
import { removeDevice } from "#lib/push/remove-device.ts";
import { getNotices } from "#lib/notices/get-notices.ts";
import { setNotices } from "#lib/notices/set-notices.ts";
import { renamePasskey } from "#lib/identity/passkeys/rename-passkey.ts";
import { removePasskey } from "#lib/identity/passkeys/remove-passkey.ts";
import { endSession } from "#lib/identity/sessions/end-session.ts";
import { endOtherSessions } from "#lib/identity/sessions/end-other-sessions.ts";
import { changePassword } from "#lib/identity/sessions/change-password.ts";
import { allowPaymentOnce } from "#lib/payments/allow-payment-once.ts";
import { activateMandate } from "#lib/mandates/lifecycle/activate-mandate.ts";
import { createMandate } from "#lib/mandates/lifecycle/create-mandate.ts";
import { getMandate } from "#lib/mandates/get-mandate.ts";
import { getRemaining } from "#lib/mandates/get-remaining.ts";
import { listMandateLedger } from "#lib/mandates/list-mandate-ledger.ts";
import { listMandates } from "#lib/mandates/list-mandates.ts";
import { resumeMandate } from "#lib/mandates/lifecycle/resume-mandate.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { simulateMandate } from "#lib/mandates/lifecycle/simulate-mandate.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { authorizePayment } from "#lib/payments/authorize-payment.ts";
import { authorizePayments } from "#lib/payments/authorize-payments.ts";
import { listDeployments } from "#lib/onchain/registry/list-deployments.ts";
import { prepareRegistration } from "#lib/onchain/registration/prepare-registration.ts";
import { registerMandate } from "#lib/onchain/registration/register-mandate.ts";
import { getApprovalReceipt } from "#lib/payments/get-approval-receipt.ts";
import { getExecutionReceipt } from "#lib/payments/get-execution-receipt.ts";
import { getPaymentReceipt } from "#lib/payments/get-payment-receipt.ts";
import { executePayment } from "#lib/execute/execute-payment.ts";
import { getExecution } from "#lib/payments/get-execution.ts";
import { getPayment } from "#lib/payments/get-payment.ts";
import { listPayments } from "#lib/payments/list-payments.ts";
import { banUser } from "#lib/platform/ban-user.ts";
import { claimPlatform } from "#lib/platform/claim-platform.ts";
import { searchOrganization } from "#lib/search/search-organization.ts";
import { emergencyRevoke } from "#lib/platform/emergency-revoke.ts";
import { listPlatformAuditEvents } from "#lib/platform/list-platform-audit-events.ts";
import { listUsers } from "#lib/platform/list-users.ts";
import { recheckExecution } from "#lib/settlement/recheck-execution.ts";
import { revokeUserSessions } from "#lib/platform/revoke-user-sessions.ts";
import { unbanUser } from "#lib/platform/unban-user.ts";
import { updateUserRoles } from "#lib/platform/update-user-roles.ts";
import { verifyPlatformAudit } from "#lib/platform/verify-platform-audit.ts";
import { verifySeller } from "#lib/sellers/verify-seller.ts";
import { operations, type Handlers } from "#lib/operations/operations.ts";
import { archiveResource } from "#lib/sellers/archive-resource.ts";
import { getResource } from "#lib/sellers/get-resource.ts";
import { getSeller } from "#lib/sellers/get-seller.ts";
import { listResources } from "#lib/sellers/list-resources.ts";
import { listSellers } from "#lib/sellers/list-sellers.ts";
import { registerSeller } from "#lib/sellers/register-seller.ts";
import { challengePayTo } from "#lib/sellers/challenge-pay-to.ts";
import { provePayTo } from "#lib/sellers/prove-pay-to.ts";
import { probeResource } from "#lib/sellers/probe-resource.ts";
import { upsertPaidResource } from "#lib/sellers/upsert-paid-resource.ts";
import { verifySellerDomain } from "#lib/sellers/verify-seller-domain.ts";
import { stepUp } from "#lib/approvals/step-up.ts";
import { listSettlements } from "#lib/settlement/list-settlements.ts";
import { signSamplePayment } from "#lib/sandbox/sign-sample-payment.ts";
import { facilitatorMounted } from "#lib/server/serve-facilitator.ts";
import { createWebhookEndpoint } from "#lib/webhooks/create-webhook-endpoint.ts";
import { deleteWebhookEndpoint } from "#lib/webhooks/delete-webhook-endpoint.ts";
import { listWebhookDeliveries } from "#lib/webhooks/list-webhook-deliveries.ts";
import { listWebhookEndpoints } from "#lib/webhooks/list-webhook-endpoints.ts";
import { resendWebhookDeliveries } from "#lib/webhooks/resend-webhook-deliveries.ts";
import { rotateWebhookSecret } from "#lib/webhooks/rotate-webhook-secret.ts";
import { testWebhookEndpoint } from "#lib/webhooks/test-webhook-endpoint.ts";
import { updateWebhookEndpoint } from "#lib/webhooks/update-webhook-endpoint.ts";
import { samplesMounted } from "#lib/server/serve-samples.ts";
import { MCP_PATH, mcpMethods } from "#lib/mcp/serve-mcp.ts";

const handlers: Handlers = {
  activateMandate,
  activateOrganization,
  allowPaymentOnce,
  addDevice,
  addPasskey,
  approveCheckout,
  archiveResource,
  assignSubscription,
  authorizePayment,
  authorizePayments,
  banUser,
  cancelCheckout,
  cancelInvitation,
  challengePasskey,
  challengePayTo,
  changePassword,
  checkLiveness,
  checkReadiness,
  checkReadinessOfService,
  claimPlatform,
  completeOnboarding,
  confirmIdentity,
  continueCheckout,
  connectAgent,
  createAgentClient,
  createMandate,
  createServiceAccount,
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  emergencyRevoke,
  endConnection,
  endOtherSessions,
  endSession,
  executePayment,
  extendCheckout,
  getApprovalReceipt,
  getCheckout,
  getExecution,
  getExecutionReceipt,
  getMandate,
  getNotices,
  getPayment,
  getPaymentReceipt,
  getRemaining,
  getResource,
  getSeller,
  getSession,
  inviteMember,
  listAgentClients,
  listAuditEvents,
  listConnections,
  listDeployments,
  listEvents,
  listFeeSchedules,
  listFees,
  listMandateLedger,
  listMandates,
  listPayments,
  listPlatformAuditEvents,
  listResources,
  listSellers,
  listServiceAccounts,
  listSettlements,
  listUsers,
  listWebhookDeliveries,
  listWebhookEndpoints,
  pauseServiceAccount,
  placeOrder,
  prepareRegistration,
  previewCheckout,
  probeResource,
  provePayTo,
  quoteFee,
  recheckExecution,
  registerMandate,
  registerPasskey,
  registerSeller,
  rejectCheckout,
  removeAgentClient,
  removeDevice,
  removeMember,
  removePasskey,
  renamePasskey,
  resendWebhookDeliveries,
  resumeMandate,
  resumeServiceAccount,
  revokeMandate,
  revokeServiceAccount,
  revokeUserSessions,
  rotateServiceAccountKey,
  rotateWebhookSecret,
  saveFeeSchedule,
  searchOrganization,
  setMandateAlerts,
  setNotices,
  setStepUpThreshold,
  signSamplePayment,
  simulateMandate,
  stepUp,
  suspendMandate,
  takeBackApproval,
  testWebhookEndpoint,
  unbanUser,
  updateMandate,
  updateMember,
  updateOrganization,
  updateUserRoles,
  updateWebhookEndpoint,
  upsertPaidResource,
  verifyAudit,
  verifyPlatformAudit,
  verifySeller,
  verifySellerDomain,
};

const mounted: readonly Mounted[] = [
  // `Handlers` names a handler after the export of its operation, and each export has the operation's id as its name.
  ...mount(operations.map((operation) => route(operation, handlers[operation.id as keyof Handlers] as Handler<Operation>))),
  ...authMounted,
  ...oauthDocuments,
  ...facilitatorMounted,
  ...samplesMounted,
  { path: OPENAPI_PATH, methods: openApiMethods },
  { path: METRICS_PATH, methods: metricsMethods },
  { path: KEYS_PATH, methods: keysMethods },
  { path: MCP_PATH, methods: mcpMethods },
];

export const dispatch = createDispatch(mounted);
