import type { Page } from "@playwright/test";

export type Answer = { readonly result?: unknown; readonly code?: number };

/** Puts a wallet on the window of a page (EIP-1193), which answers as the test says: with a result, or with the code of an error. */
export async function injectWallet(
  page: Page,
  answer: (method: string, params: readonly unknown[]) => Promise<Answer>,
): Promise<void> {
  await page.exposeFunction("walletAnswers", answer);
  await page.addInitScript(() => {
    const { walletAnswers } = window as unknown as {
      walletAnswers(method: string, params: readonly unknown[]): Promise<{ readonly result?: unknown; readonly code?: number }>;
    };
    Object.assign(window, {
      ethereum: {
        async request({ method, params = [] }: { method: string; params?: readonly unknown[] }) {
          const { result, code } = await walletAnswers(method, params);
          if (code !== undefined) throw Object.assign(new Error("The wallet refused"), { code });
          return result;
        },
      },
    });
  });
}
