"use client";

import { LogIn, Mail, Wallet } from "lucide-react";
import type { RefObject } from "react";
import { Button } from "#components/ui/button.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { WalletRefusal } from "#components/wallet/injected.ts";
import { withReturnTo } from "#lib/http/return-to.ts";
import type { Session } from "#lib/identity/session-schema.ts";
import { requestAuth } from "./auth-request.ts";
import { Or } from "./or.tsx";
import { Refusal } from "./refusal.tsx";
import { signInWithWallet } from "./wallet.ts";

export type Ways = {
  readonly methods: Session["authMethods"];
  /** The chain and origin in the message that a wallet signs; null if people cannot sign in with a wallet here. */
  readonly siwe: { readonly chainId: number; readonly origin: string } | null;
};

type Way = "magicLink" | "wallet" | "google" | "github";
type Props = Ways & { readonly returnTo: string; readonly email: RefObject<HTMLInputElement | null> };

const look = {
  magicLink: { text: "E-mail me a link", Icon: Mail },
  wallet: { text: "Use a wallet", Icon: Wallet },
  google: { text: "Use Google", Icon: LogIn },
  github: { text: "Use GitHub", Icon: LogIn },
} as const;

export function OtherWays({ methods, siwe, returnTo, email }: Props) {
  const ways = (Object.keys(look) as Way[]).filter((way) => methods[way]);
  const go = async (way: Way): Promise<string | null> => {
    if (way === "wallet") {
      if (siwe) await signInWithWallet(siwe);
      return returnTo;
    }
    if (way === "magicLink") {
      const field = email.current;
      if (!field?.reportValidity()) return null;
      await requestAuth("sign-in/magic-link", { email: field.value, callbackURL: returnTo });
      return withReturnTo("/sign-in/link", returnTo, { to: field.value });
    }
    const errorCallbackURL = withReturnTo("/sign-in", returnTo);
    const { url } = await requestAuth("sign-in/social", { provider: way, callbackURL: returnTo, errorCallbackURL });
    return String(url);
  };
  const enter = useOperation(go, { done: (next) => (next === null ? undefined : location.assign(next)), refresh: "never" });
  if (ways.length === 0) return null;
  return (
    <>
      <Or>or another way</Or>
      <Refusal error={enter.error}>{enter.error instanceof WalletRefusal ? enter.error.message : undefined}</Refusal>
      <div className="grid grid-cols-[repeat(auto-fit,minmax(9.5rem,1fr))] gap-3">
        {ways.map((way) => {
          const { text, Icon } = look[way];
          return (
            <Button key={way} disabled={enter.busy} onClick={() => enter.send(way)}>
              <Icon className="icon" aria-hidden />
              {text}
            </Button>
          );
        })}
      </div>
    </>
  );
}
