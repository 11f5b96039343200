export const DocsSearch = ({ value = "" }: { readonly value?: string }) => (
  <search aria-label={value === "" ? "Documentation" : "Documentation, again"}>
    <form action="/docs" method="get">
      <input
        key={value}
        className="min-h-11 py-1.25 text-sm/6 md:min-h-9"
        type="search"
        name="q"
        required
        maxLength={100}
        defaultValue={value}
        placeholder="Search the docs"
        aria-label="Search the documentation"
        autoComplete="off"
      />
    </form>
  </search>
);
