import { newDraft, type MandateDraft } from "#lib/mandates/draft/draft.ts";
import { daysAfter } from "#lib/time.ts";

export const templateIds = ["research", "supplies", "purchase", "trial"] as const;
export type TemplateId = (typeof templateIds)[number];

export type Template = { readonly id: TemplateId; readonly title: string; readonly text: string };

type Terms = Partial<Omit<MandateDraft, "coin">>;
type Entry = { readonly title: (asset: string) => string; readonly text: (asset: string) => string; terms(now: Date): Terms };

/** The value of a date-time field in UTC, to the minute. */
const inDays = (now: Date, days: number): string => daysAfter(now, days).toISOString().slice(0, 16);

const entries: Readonly<Record<TemplateId, Entry>> = {
  research: {
    title: (asset) => `Research agent: 5 ${asset} a day`,
    text: (asset) => `Small payments for data. At most 1 ${asset} a payment; asks you above 0.5.`,
    terms: () => ({ name: "Research agent", perPayment: "1", day: "5", mode: "above", above: "0.5" }),
  },
  supplies: {
    title: () => "Office supplies: asks above 10",
    text: (asset) => `Goods from shops. 250 ${asset} a month, at most 50 a payment.`,
    terms: () => ({ name: "Office supplies", perPayment: "50", month: "250", mode: "above", above: "10" }),
  },
  purchase: {
    title: () => "One purchase",
    text: (asset) => `A single payment of at most 100 ${asset} within 7 days, after you approve it.`,
    terms: (now) => ({
      name: "One purchase",
      perPayment: "100",
      total: "100",
      mode: "always",
      // The window is as long as the mandate is valid, so its count never starts again.
      more: [{ kind: "payments", span: "rolling", timezone: "UTC", rolling: "P7D", value: "1" }],
      validUntil: inDays(now, 7),
    }),
  },
  trial: {
    title: () => "Read-only trial",
    text: (asset) => `The agent asks, and you approve every payment. 5 ${asset} in all, for 14 days.`,
    terms: (now) => ({
      name: "Read-only trial",
      perPayment: "1",
      total: "5",
      mode: "always",
      validUntil: inDays(now, 14),
    }),
  },
};

export const templatesFor = (asset: string): readonly Template[] =>
  templateIds.map((id) => ({ id, title: entries[id].title(asset), text: entries[id].text(asset) }));

export const isTemplate = (id: string | undefined): id is TemplateId => templateIds.some((one) => one === id);

/** Sellers need not be registered here, so every template allows unregistered sellers within its limits. */
export const templateDraft = (id: TemplateId, { coin, now }: { readonly coin: string; readonly now: Date }): MandateDraft => ({
  ...newDraft(coin),
  unregistered: true,
  ...entries[id].terms(now),
});
