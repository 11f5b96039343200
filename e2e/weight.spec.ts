import { weigh } from "#test/page-weight.ts";
import { expect, signInAs, test } from "./setup/journey.ts";
import { askAPerson, newPurchase } from "./setup/purchase.ts";

test("home and the confirmation page send few scripts, and their layout does not move", async ({ page, context }) => {
  const purchase = await newPurchase();
  const path = await askAPerson(purchase);
  await signInAs(context, purchase.buyer.credential);
  const home = await weigh(page, "/home");
  expect(home.scriptKb).toBeLessThan(170);
  expect(home.shift).toBeLessThan(0.05);
  const confirmation = await weigh(page, path);
  expect(confirmation.scriptKb).toBeLessThan(170);
  expect(confirmation.shift).toBeLessThan(0.05);
});
