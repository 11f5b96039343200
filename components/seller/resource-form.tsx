"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import type { UseFormReturn } from "react-hook-form";
import type { z } from "zod";
import { Field, Select, TextArea } from "#components/ui/field.tsx";
import { OperationForm, Submit, useOperationForm, type CheckedFormState } from "#components/ui/form.tsx";
import { useLeaveGuard } from "#components/ui/leave-guard.ts";
import type { upsertPaidResource } from "#lib/sellers/contract.ts";
import type { ListedResource, Seller as AnySeller } from "#lib/sellers/resource-schema.ts";
import { idOfPath, type Coin, type ResourceOffer } from "#lib/pages/seller/snippets.ts";
import { assuranceOptions, methodOptions, pricingOptions, settlementOptions } from "./choices.ts";
import { useIdTaken } from "./id-taken.ts";
import { ServerSide } from "./server-side.tsx";
import { resourcePath } from "./words.ts";

type Values = z.input<typeof upsertPaidResource.body>;
type State = CheckedFormState<Values>;
type Seller = Pick<AnySeller, "sellerId" | "domain">;

type Props = {
  readonly sellers: readonly Seller[];
  readonly coins: readonly Coin[];
  readonly facilitators: readonly string[];
  readonly origin: string;
  /** The resource to change; absent for a new one. */
  readonly resource?: ListedResource;
};

const given = { shouldUnregister: true } as const;

function defaultsOf({ sellers, coins, resource }: Props) {
  const [coin] = coins;
  if (resource) {
    const { resourceId: _, configurationSource: __, payToProven: ___, ...terms } = resource;
    return {
      ...terms,
      paymentConfig: terms.paymentConfig ?? {
        chain: coin?.chain ?? "",
        payTo: "",
        settlementMode: "offchainAuthorized" as const,
      },
    } as Values;
  }
  return {
    sellerId: sellers[0]?.sellerId ?? "",
    method: "GET",
    pathTemplate: "",
    description: "",
    pricing: { type: "fixed", amount: "", asset: coin?.asset ?? "" },
    acceptedPaymentChallengeTypes: ["x402"],
    minimumAssuranceLevel: "softwareApproved",
    paymentConfig: { chain: coin?.chain ?? "", payTo: "", settlementMode: "offchainAuthorized", maxTimeoutSeconds: 300 },
  } as Values;
}

function What({
  state,
  sellers,
  isNew,
}: {
  readonly state: State;
  readonly sellers: readonly Seller[];
  readonly isNew: boolean;
}) {
  const { field } = state;
  return (
    <>
      {isNew && sellers.length > 1 && (
        <Select label="Seller" options={sellers.map(({ sellerId, domain }) => [sellerId, domain])} {...field("sellerId")} />
      )}
      <div className="grid grid-cols-[7rem_minmax(0,1fr)] gap-3 md:gap-4">
        <Select label="Method" options={methodOptions} {...field("method")} />
        <Field
          label="Path template"
          hint="Write parameters in braces: /reports/{date}"
          className="mono"
          autoComplete="off"
          spellCheck={false}
          {...field("pathTemplate")}
        />
      </div>
      <TextArea label="Description" hint="Agents read this before they pay." rows={2} {...field("description")} />
    </>
  );
}

function Costs({ state, coins }: { readonly state: State; readonly coins: readonly Coin[] }) {
  const { field, form } = state;
  const quoted = form.watch("pricing.type") === "quoted";
  const asset = form.watch("pricing.asset");
  const assets = [...new Set(coins.map((coin) => coin.asset))];
  return (
    <>
      <div className="fields">
        <Select label="Pricing" options={pricingOptions} {...field("pricing.type")} />
        {quoted ? (
          <Field
            key="maxAmount"
            label="At most (optional)"
            suffix={asset}
            className="num"
            inputMode="decimal"
            autoComplete="off"
            {...field("pricing.maxAmount", given)}
          />
        ) : (
          <Field
            key="amount"
            label="Price"
            suffix={asset}
            className="num"
            inputMode="decimal"
            autoComplete="off"
            {...field("pricing.amount", given)}
          />
        )}
      </div>
      {assets.length > 1 && <Select label="Asset" options={assets.map((one) => [one, one])} {...field("pricing.asset")} />}
      <p className="hint">You receive the full price. A service fee, if there is one, is billed separately.</p>
    </>
  );
}

type PaidProps = Pick<Props, "coins" | "facilitators"> & { readonly state: State };

function Paid({ state, coins, facilitators }: PaidProps) {
  const { field, form } = state;
  const chains = [...new Set(coins.map(({ chain }) => chain))];
  const weSettle = form.watch("paymentConfig.settlementMode") === "facilitatorSettled";
  return (
    <>
      <Field
        label="Paid to"
        hint="The address of your wallet. A payment cannot be taken back: check it twice."
        className="mono"
        autoComplete="off"
        spellCheck={false}
        {...field("paymentConfig.payTo")}
      />
      {chains.length > 1 && (
        <Select label="Network" options={chains.map((chain) => [chain, chain])} {...field("paymentConfig.chain")} />
      )}
      <div className="fields">
        <Select
          label="Who settles"
          hint={weSettle ? "As soon as the agent sends its payment." : "With the facilitator that it uses; we watch the chain."}
          options={settlementOptions}
          {...field("paymentConfig.settlementMode")}
        />
        <Field
          label="Time to settle"
          suffix="seconds"
          className="num"
          inputMode="numeric"
          hint="How long a signed payment is valid."
          {...field("paymentConfig.maxTimeoutSeconds", { valueAsNumber: true })}
        />
      </div>
      {weSettle && facilitators.length > 0 && (
        <Select
          label="Facilitator"
          options={[["", "In process"], ...facilitators.map((url) => [url, url] as const)]}
          {...field("paymentConfig.facilitatorUrl", given)}
        />
      )}
      <Select label="Buyers confirm with" options={assuranceOptions} {...field("minimumAssuranceLevel")} />
    </>
  );
}

function offeredOf({ watch }: UseFormReturn<Values>, resourceId: string): ResourceOffer {
  const { method, pathTemplate, description, pricing, paymentConfig } = watch();
  return {
    resourceId,
    method,
    pathTemplate: pathTemplate === "" ? "/" : pathTemplate,
    ...(description !== undefined && { description }),
    pricing: pricing.type === "fixed" ? { ...pricing, amount: pricing.amount ?? "" } : pricing,
    payTo: paymentConfig?.payTo ?? "",
    maxTimeoutSeconds: paymentConfig?.maxTimeoutSeconds ?? 300,
    settlementMode: paymentConfig?.settlementMode ?? "offchainAuthorized",
  };
}

export function ResourceForm(props: Props) {
  const { sellers, coins, facilitators, origin, resource } = props;
  const router = useRouter();
  const [chosenId, setChosenId] = useState<string | null>(null);
  const idOf = (path: string): string => resource?.resourceId ?? chosenId ?? (path === "" ? "" : idOfPath(path));
  const state: State = useOperationForm(
    () => import("#lib/sellers/contract.ts").then((contract) => contract.upsertPaidResource),
    {
      defaults: defaultsOf(props),
      params: ({ pathTemplate }) => ({ id: idOf(pathTemplate) }),
      refresh: "never",
      done: (saved, sent) => {
        const typedMore = JSON.stringify(state.form.getValues()) !== JSON.stringify(sent);
        // Make the sent values the defaults of the form, so that only later changes count as not saved.
        state.form.reset(sent, { keepValues: true });
        if (!resource) router.push(resourcePath(saved));
        // The refreshed page has a new form, without the text that was typed meanwhile.
        else if (!typedMore) router.refresh();
        return "Saved";
      },
    },
  );
  const { form } = state;
  useLeaveGuard(form.formState.isDirty);
  const sellerId = form.watch("sellerId");
  const resourceId = idOf(form.watch("pathTemplate"));
  const taken = useIdTaken(resource ? null : { sellerId, resourceId });
  const offered = offeredOf(form, resourceId);
  const coin =
    coins.find(({ chain, asset }) => chain === form.watch("paymentConfig.chain") && asset === offered.pricing.asset) ?? coins[0];
  const domain = sellers.find((seller) => seller.sellerId === sellerId)?.domain ?? "";
  return (
    <div className="split lg:grid-cols-2">
      <OperationForm state={state} nothing="Nothing was saved." className="panel panel-body grid grid-cols-1 gap-5">
        <What state={state} sellers={sellers} isNew={!resource} />
        {!resource && (
          <Field
            label="Resource id"
            hint="How your code and agents name it. It cannot be changed later."
            className="mono"
            autoComplete="off"
            spellCheck={false}
            value={resourceId}
            onChange={(event) => setChosenId(event.target.value)}
            error={taken ? "You have a resource with this id already; choose another." : undefined}
          />
        )}
        <Costs state={state} coins={coins} />
        <Paid state={state} coins={coins} facilitators={facilitators} />
        <div className="actions">
          <Submit state={state} off={taken}>
            {resource ? "Save resource" : "Create resource"}
          </Submit>
        </div>
      </OperationForm>
      {coin && (
        <ServerSide
          offered={offered}
          coin={coin}
          domain={domain}
          origin={origin}
          sellerId={sellerId}
          saved={resource !== undefined}
        />
      )}
    </div>
  );
}
