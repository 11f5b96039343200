type Props = {
  readonly label: string;
  readonly rows?: number;
};

const widths = ["w-2/5", "w-3/4", "w-3/5", "w-4/5", "w-1/3", "w-2/3"] as const;

const BAR = "block h-3 rounded-xs bg-bar-track motion-safe:animate-breathe";

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
