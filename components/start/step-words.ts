import { steps, type StepId } from "#lib/pages/settings/progress.ts";
import type { Capability } from "#lib/vocabulary.ts";
import type { StepView } from "./checklist.tsx";

type Words = Pick<StepView, "title" | "text"> & { readonly label: string; readonly href: string };

const words: Readonly<Record<StepId, Words>> = {
  key: { title: "Create a key", text: "For your first agent", label: "Create a key", href: "/settings/keys" },
  mandate: { title: "Write a mandate", text: "What the agent may spend", label: "New mandate", href: "/mandates/new" },
  activation: { title: "Activate it", text: "A draft pays nothing", label: "Open mandates", href: "/mandates" },
  authorization: {
    title: "First authorization",
    text: "Done when the first payment is allowed",
    label: "Run one below",
    href: "#request",
  },
  payment: {
    title: "Make a test payment",
    text: "A sample seller is paid, and the payment settles",
    label: "Pay below",
    href: "#sample",
  },
  approval: {
    title: "Approve a payment",
    text: "The agent asks, and you decide, also on your phone",
    label: "Approve one below",
    href: "#sample",
  },
  seller: {
    title: "Register as a seller",
    text: "Your name and your domain",
    label: "Register a seller",
    href: "/seller/settings",
  },
  resource: {
    title: "Put a price on something",
    text: "A path of your API, and what it costs",
    label: "Add a resource",
    href: "/seller/resources/new",
  },
};

export const stepViews = (ids: readonly StepId[], capabilities: ReadonlySet<Capability>): readonly StepView[] =>
  ids.map((id) => {
    const { title, text, label, href } = words[id];
    return { id, title, text, action: steps[id].does.every((one) => capabilities.has(one)) ? { label, href } : undefined };
  });
