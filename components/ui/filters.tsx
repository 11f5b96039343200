"use client";

import { useRouter } from "next/navigation";
import { type ChangeEvent, type FormEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { Button } from "./button.tsx";
import { useHydrated } from "./hydrated.ts";

type Props = {
  /** What is narrowed: "Payments". */
  readonly label: string;
  /** The page the filters belong to, without its query. */
  readonly path: string;
  readonly children: ReactNode;
};

function addressOf(form: HTMLFormElement, path: string): string {
  const params = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string" && value !== "") params.append(name, value);
  return params.size > 0 ? `${path}?${params}` : path;
}

/** True where a key belongs to what the person types. */
const typing = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/**
 * A GET form whose values live in the page's address: a filter starts again at the first page, works without scripts, and
 * applies at once with them. The key "/" goes to the search field.
 *
 *     <Filters label="Payments" path="/payments">
 *       <FilterSearch label="Search payments" name="q" value={one(query, "q")} placeholder="Seller or id" />
 *       <FilterSelect label="Status" name="status" value={one(query, "status")} any="Any status" options={[["settled", "Settled"]]} />
 *       <FilterDate label="From" name="createdFrom" value={one(query, "createdFrom")} />
 *     </Filters>
 */
export function Filters({ label, path, children }: Props) {
  const router = useRouter();
  const form = useRef<HTMLFormElement>(null);
  const hydrated = useHydrated();
  const apply = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    router.push(addressOf(event.currentTarget, path));
  };
  const change = (event: ChangeEvent<HTMLFormElement>) => {
    // Text is applied with Enter, so that a list does not jump under the hands of someone who writes.
    if ((event.target as HTMLElement).getAttribute("type") !== "search") event.currentTarget.requestSubmit();
  };
  useEffect(() => {
    const go = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      const search = form.current?.querySelector<HTMLInputElement>("input[type=search]");
      if (!search) return;
      event.preventDefault();
      search.focus();
      search.select();
    };
    document.addEventListener("keydown", go);
    return () => document.removeEventListener("keydown", go);
  }, []);
  return (
    <search aria-label={label}>
      <form ref={form} className="tools" action={path} autoComplete="off" onSubmit={apply} onChange={change}>
        {children}
        <Button withoutScripts size="small" type="submit" className={hydrated ? "sr" : ""}>
          Apply
        </Button>
      </form>
    </search>
  );
}

/**
 * Shows what the address says, also after going back; a control that was just used keeps the focus. What was chosen before the
 * page's scripts ran is applied, and what was typed stays.
 */
function useShown<E extends HTMLInputElement | HTMLSelectElement>(value: string) {
  const control = useRef<E>(null);
  const first = useRef(true);
  useEffect(() => {
    const shown = control.current;
    if (!shown) return;
    if (!first.current) shown.value = value;
    else if (shown.value !== value && shown.type !== "search") shown.form?.requestSubmit();
    first.current = false;
  }, [value]);
  return control;
}

type FilterProps = { readonly label: string; readonly name: string; readonly value: string | undefined };

export function FilterSearch({ label, name, value = "", placeholder }: FilterProps & { readonly placeholder?: string }) {
  const id = useId();
  const hydrated = useHydrated();
  const input = useShown<HTMLInputElement>(value);
  return (
    <div className="search">
      <label className="sr" htmlFor={id}>
        {label}
      </label>
      <input
        ref={input}
        type="search"
        id={id}
        name={name}
        defaultValue={value}
        placeholder={placeholder}
        aria-keyshortcuts={hydrated ? "/" : undefined}
      />
    </div>
  );
}

type SelectProps = FilterProps & {
  /** What it says when nothing is chosen: "Any status". */
  readonly any: string;
  readonly options: readonly (readonly [value: string, text: string])[];
};

export function FilterSelect({ label, name, value = "", any, options }: SelectProps) {
  const select = useShown<HTMLSelectElement>(value);
  return (
    <select ref={select} aria-label={label} name={name} defaultValue={value}>
      <option value="">{any}</option>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  );
}

/** A day, as the address holds it: 2026-11-21. */
export function FilterDate({ label, name, value = "" }: FilterProps) {
  const input = useShown<HTMLInputElement>(value);
  return (
    <label className="date">
      {label}
      <input ref={input} type="date" name={name} defaultValue={value} />
    </label>
  );
}
