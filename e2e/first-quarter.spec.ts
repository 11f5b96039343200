import { newOrganization } from "#test/identity.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";

test("a template fills in the form completely, and its mandate pays nothing until a person activates it", async ({
  page,
  context,
}) => {
  const buyer = await newOrganization();
  await signInAs(context, buyer.credential);
  await page.goto("/mandates/new");
  await page.getByRole("link", { name: /^Research agent: 5 USDC a day/ }).click();
  await expect(page.getByText("Agents may spend up to 5.00 USDC a day, at most 1.00 USDC in one payment.")).toBeVisible();
  await page.getByRole("link", { name: /^Read-only trial/ }).click();
  await expect(page).toHaveURL("/mandates/new?template=trial");
  await expect(page.getByLabel("In all")).toHaveValue("5");
  await expectAccessible(page);
  await page.getByRole("button", { name: "Save draft" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Read-only trial" })).toBeVisible();
  await expect(page.getByText("This is a draft.")).toBeVisible();
});
