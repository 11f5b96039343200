type Props = {
  /** Says what is loading: "Loading payments". */
  readonly label: string;
  /** The number of placeholder entries, which should be about the number of entries that will be shown. */
  readonly rows?: number;
};

const widths = ["w-2/5", "w-3/4", "w-3/5", "w-4/5", "w-1/3", "w-2/3"] as const;

const BAR = "block h-3 rounded-xs bg-bar-track motion-safe:animate-breathe";

/**
 * A placeholder for a panel's content while it loads.
 *
 *     <Suspense fallback={<Skeleton label="Loading payments" rows={8} />}>…</Suspense>
 */
export function Skeleton({ label, rows = 4 }: Props) {
  return (
    <div className="panel panel-body grid gap-5" aria-busy>
      <p className="sr">{label}</p>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} aria-hidden>
          <span className={`${BAR} ${widths[(row * 2) % widths.length]}`} />
          <span className={`${BAR} mt-2 ${widths[(row * 2 + 1) % widths.length]}`} />
        </div>
      ))}
    </div>
  );
}
