import { authMethods, type AuthMethod } from "#lib/identity/sessions/auth-methods.ts";

/** All other endpoints of better-auth are in disabledPaths; a test compares both lists with better-auth's own list. */
export const servedPaths = [
  "/sign-up/email",
  "/sign-in/email",
  "/sign-out",
  "/get-session",
  "/request-password-reset",
  "/reset-password",
  "/send-verification-email",
  "/verify-email",
  "/sign-in/magic-link",
  "/magic-link/verify",
  "/siwe/nonce",
  "/siwe/verify",
  "/sign-in/social",
  "/callback/:id",
  "/passkey/generate-authenticate-options",
  "/passkey/verify-authentication",
  "/oauth2/authorize",
  "/oauth2/token",
  "/oauth2/revoke",
] as const;
export type ServedPath = (typeof servedPaths)[number];

const needs: Partial<Record<ServedPath, readonly AuthMethod[]>> = {
  // These endpoints send a mail or follow a link in a mail, so they need mail delivery, as magicLink does.
  "/request-password-reset": ["magicLink"],
  "/reset-password": ["magicLink"],
  "/send-verification-email": ["magicLink"],
  "/verify-email": ["magicLink"],
  "/sign-in/magic-link": ["magicLink"],
  "/magic-link/verify": ["magicLink"],
  "/siwe/nonce": ["wallet"],
  "/siwe/verify": ["wallet"],
  "/sign-in/social": ["google", "github"],
  "/callback/:id": ["google", "github"],
  "/passkey/generate-authenticate-options": ["passkey"],
  "/passkey/verify-authentication": ["passkey"],
};

export function isOffered(path: ServedPath): boolean {
  const methods = authMethods();
  return needs[path]?.some((method) => methods[method]) ?? true;
}

export const unofferedPaths = (): string[] => servedPaths.filter((path) => !isOffered(path));

const organization = [
  "create",
  "update",
  "delete",
  "set-active",
  "list",
  "leave",
  "check-slug",
  "get-organization",
  "get-full-organization",
  "get-active-member",
  "get-active-member-role",
  "has-permission",
  "list-members",
  "remove-member",
  "update-member-role",
  "invite-member",
  "get-invitation",
  "list-invitations",
  "list-user-invitations",
  "cancel-invitation",
  "accept-invitation",
  "reject-invitation",
].map((path) => `/organization/${path}`);

/** This service uses none of these; it has its own operations for consent, clients and discovery documents. */
const oauthDisabled = [
  "/.well-known/oauth-authorization-server",
  "/.well-known/openid-configuration",
  "/oauth2/consent",
  "/oauth2/continue",
  "/oauth2/introspect",
  "/oauth2/userinfo",
  "/oauth2/register",
  "/oauth2/end-session",
  "/oauth2/end-session/confirm",
  "/oauth2/create-client",
  "/oauth2/get-client",
  "/oauth2/get-clients",
  "/oauth2/public-client",
  "/oauth2/public-client-prelogin",
  "/oauth2/update-client",
  "/oauth2/delete-client",
  "/oauth2/client/rotate-secret",
  "/oauth2/get-consent",
  "/oauth2/get-consents",
  "/oauth2/update-consent",
  "/oauth2/delete-consent",
  "/admin/oauth2/create-client",
  "/admin/oauth2/update-client",
  "/admin/oauth2/resources",
  "/admin/oauth2/resources/:identifier",
  "/admin/oauth2/resources/:identifier/clients/:client_id",
];

/** These answer 404, because many of them would change data without an audit event or the lock of closeGate. */
export const disabledPaths = [
  ...organization,
  "/ok",
  "/error",
  "/link-social",
  "/unlink-account",
  "/list-accounts",
  "/account-info",
  "/refresh-token",
  "/get-access-token",
  "/update-user",
  "/update-session",
  "/change-email",
  "/delete-user",
  "/delete-user/callback",
  "/verify-password",
  "/list-sessions",
  "/revoke-session",
  "/revoke-sessions",
  "/revoke-other-sessions",
  "/siwe/get-nonce",
  "/change-password",
  "/passkey/generate-register-options",
  "/passkey/verify-registration",
  "/passkey/list-user-passkeys",
  "/passkey/delete-passkey",
  "/passkey/update-passkey",
  // better-auth compares whole paths and this path contains a token, so better-auth cannot block it. serveAuth() does.
  "/reset-password/:token",
  ...oauthDisabled,
];
