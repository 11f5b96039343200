import { ShieldCheck } from "lucide-react";
import { Notice } from "#components/ui/notice.tsx";

export const KeyRules = () => (
  <Notice icon={ShieldCheck}>
    <strong>A key that can pay can never create or raise a mandate.</strong> People do that, signed in, on this site. No key can
    approve a payment either.
  </Notice>
);
