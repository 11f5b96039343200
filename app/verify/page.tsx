import { VerifyForm } from "#components/receipts/verify-form.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";

export const metadata = { title: "Verify a receipt" };

export default function VerifyPage() {
  return (
    <>
      <PageHeader
        title="Verify a receipt"
        description="A signed decision, settlement or approval is a receipt that proves what a service decided about a payment. It is checked here in your browser, and nothing that you enter is sent anywhere."
      />
      <VerifyForm />
    </>
  );
}
