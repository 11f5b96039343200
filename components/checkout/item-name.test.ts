import { expect, test } from "vitest";
import { itemName } from "./item-name.ts";

test.each([
  [{ title: "A pack of stickers", name: "https://shop.example.com/items/stickers" }, "a pack of stickers"],
  [{ title: "Ananas", name: "https://shop.example.com/7" }, "Ananas"],
  [{ name: "Yearly market report" }, "Yearly market report"],
  [{ name: "https://shop.example.com/items/stickers?colour=red" }, "/items/stickers?colour=red"],
  [{ name: "https://shop.example.com/" }, null],
  [{ name: "shop.example.com" }, null],
  // Another host than the payee's is shown whole.
  [{ name: "https://other.example.com/items" }, "https://other.example.com/items"],
])("the sentence about the wish names %j", (line, name) => {
  expect(itemName(line, "shop.example.com")).toBe(name);
});
