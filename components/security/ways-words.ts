const names: Readonly<Record<string, string>> = {
  emailPassword: "Password",
  magicLink: "Link by e-mail",
  passkey: "Passkey",
  wallet: "Wallet",
  google: "Google",
  github: "GitHub",
};

export const wayName = (way: string): string => names[way] ?? way;
