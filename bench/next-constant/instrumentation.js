/** Without this file Next.js would run the service's instrumentation from a parent folder. */
export const register = () => {};
