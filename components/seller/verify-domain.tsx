"use client";

import { Button } from "#components/ui/button.tsx";
import { Code } from "#components/ui/code.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { Pairs } from "#components/ui/pairs.tsx";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { Tabs } from "#components/ui/tabs.tsx";
import type { OwnSeller } from "#lib/pages/seller/view-sellers.ts";
import { verifySellerDomain } from "./calls.ts";

type Method = "wellKnown" | "dns";

function Check({
  sellerId,
  method,
  children,
}: {
  readonly sellerId: string;
  readonly method: Method;
  readonly children: string;
}) {
  const { send, busy, error } = useOperation(verifySellerDomain);
  return (
    <>
      <ProblemNotice error={error} nothing="The domain is not verified." />
      <div className="actions">
        <Button tone="primary" aria-busy={busy} onClick={() => send({ id: sellerId, body: { method } })}>
          {children}
        </Button>
      </div>
    </>
  );
}

const File = ({ seller: { sellerId, proof } }: { readonly seller: OwnSeller }) => (
  <div className="grid grid-cols-1 gap-4">
    <p className="text-sm">
      Publish one line of plain text at <code>{proof.url}</code>. It has to answer by itself: a redirect to another host proves
      nothing about yours.
    </p>
    <Code label="The file" text={`${proof.token}\n`} />
    <Code label="See whether it is there" text={`curl ${proof.url}\n`} />
    <Check sellerId={sellerId} method="wellKnown">
      Check the file
    </Check>
  </div>
);

const Dns = ({ seller: { sellerId, proof } }: { readonly seller: OwnSeller }) => (
  <div className="grid grid-cols-1 gap-4">
    <p className="text-sm">Add a TXT record at the host that manages your domain. It can take minutes to be visible.</p>
    <Pairs
      items={[
        ["Type", <code key="type">TXT</code>],
        ["Name", <code key="name">{proof.dnsName}</code>],
      ]}
    />
    <Code label="The value" text={proof.token} />
    <Code label="See whether it is there" text={`dig +short TXT ${proof.dnsName}\n`} />
    <Check sellerId={sellerId} method="dns">
      Check the record
    </Check>
  </div>
);

export const VerifyDomain = ({ seller }: { readonly seller: OwnSeller }) =>
  seller.proof.dnsName === undefined ? (
    <File seller={seller} />
  ) : (
    <Tabs
      label={`How to prove ${seller.domain}`}
      tabs={[
        { value: "wellKnown", name: "File on your server", content: <File seller={seller} /> },
        { value: "dns", name: "DNS record", content: <Dns seller={seller} /> },
      ]}
    />
  );
