/** Next.js would otherwise look further up and start the one of the service. */
export const register = () => {};
