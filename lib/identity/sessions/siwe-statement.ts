/** The text that a wallet shows to a person who signs in with it. */
export const siweStatement = "Sign in to Countersign. This moves no money and approves nothing.";
