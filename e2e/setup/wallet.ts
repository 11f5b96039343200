import type { Page } from "@playwright/test";

export type Answer = { readonly result?: unknown; readonly code?: number };

/** Adds a wallet (EIP-1193) to the window of a page. The test decides whether the wallet returns a result or an error code. */
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
