/** Next.js would otherwise look further up and find the configuration of the service. */
export default {};
