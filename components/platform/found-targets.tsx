import Link from "next/link";
import { Badge } from "#components/ui/badge.tsx";
import { address, type PageQuery } from "#components/ui/page-query.ts";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { FoundTargets, FoundTarget } from "#lib/pages/admin/find-targets.ts";

const kinds = {
  mandate: { word: "Mandate", name: "mandateId" },
  agent: { word: "Agent", name: "agentId" },
  seller: { word: "Seller", name: "sellerId" },
} as const;

type Props = { readonly found: FoundTargets; readonly path: string; readonly query: PageQuery };

const Found = ({ one, href }: { readonly one: FoundTarget; readonly href: string }) => (
  <li className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 py-2.5 text-sm">
    <span className="wrap-anywhere">
      {kinds[one.kind].word}{" "}
      <Link href={href} prefetch={false}>
        <Untrusted>{one.name}</Untrusted>
      </Link>
      <span className="block text-xs text-muted">
        {one.domain !== null && <>{one.domain}, </>}
        <Untrusted>{one.organizationName}</Untrusted>, …{one.id.slice(-5)}
      </span>
    </span>
    {one.isStopped && <Badge icon="stop">Stopped</Badge>}
  </li>
);

export function FoundList({ found: { items, more }, path, query }: Props) {
  if (items.length === 0)
    return <output className="text-muted text-sm">No name, domain or organization contains this text.</output>;
  return (
    <div>
      <h3>Found</h3>
      <ul className="divide-y">
        {items.map((one) => (
          <Found key={one.id} one={one} href={address(path, query, { [kinds[one.kind].name]: one.id })} />
        ))}
      </ul>
      {more && <p className="text-muted text-sm">There are more results. Enter a longer part of the name.</p>}
    </div>
  );
}
