/** An age for people, rounded down: "Today", "12 days", "5 months". */
export function ageText(days: number): string {
  if (days === 0) return "Today";
  if (days === 1) return "1 day";
  return days < 60 ? `${days} days` : `${Math.floor(days / 30)} months`;
}
