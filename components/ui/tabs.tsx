"use client";

import { Tabs as Base } from "@base-ui/react/tabs";
import type { ReactNode } from "react";

type Tab = { readonly value: string; readonly name: string; readonly content: ReactNode };

/**
 * Parts of a page of which one is shown. For parts with an address of their own use TabLinks.
 *
 *     <Tabs label="Language" tabs={[{ value: "curl", name: "curl", content: … }, { value: "ts", name: "TypeScript", content: … }]} />
 */
export function Tabs({ label, tabs }: { readonly label: string; readonly tabs: readonly Tab[] }) {
  return (
    <Base.Root defaultValue={tabs[0]?.value}>
      <Base.List className="tabs" aria-label={label} activateOnFocus>
        {tabs.map(({ value, name }) => (
          <Base.Tab key={value} value={value}>
            {name}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map(({ value, content }) => (
        <Base.Panel key={value} value={value}>
          {content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
