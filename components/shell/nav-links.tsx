"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import { currentOf } from "./menu-words.ts";
import type { EntryGroup } from "./navigation.ts";

type Props = {
  readonly groups: readonly EntryGroup[];
  readonly waiting: Readonly<Record<string, number>>;
  readonly label: string;
};

const isProduct = ({ group }: EntryGroup): boolean => group === "Buying" || group === "Selling";

/** An organization that only buys or only sells has one group of product pages, so that group needs no heading. */
export function NavLinks({ groups, waiting, label }: Props) {
  const path = usePathname();
  const current = currentOf(
    path,
    groups.flatMap(({ entries }) => entries.map(({ href }) => href)),
  );
  const both = groups.filter(isProduct).length === 2;
  return (
    <nav aria-label={label} className="rail-groups">
      {groups.map((one) => (
        <div key={one.group}>
          {(both || !isProduct(one)) && <h2>{one.group}</h2>}
          <ul className="rail-nav">
            {one.entries.map(({ href, label: text }) => (
              <li key={href}>
                <Link href={href} prefetch={false} aria-current={href === current ? "page" : undefined}>
                  {text}
                  {(waiting[href] ?? 0) > 0 && (
                    <span className="font-semibold text-accent tabular-nums">
                      {waiting[href]}
                      <span className="sr"> waiting</span>
                    </span>
                  )}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
