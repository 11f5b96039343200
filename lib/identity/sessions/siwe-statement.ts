/** What a wallet shows to the person who signs in with it. */
export const siweStatement = "Sign in to Countersign. This moves no money and approves nothing.";
