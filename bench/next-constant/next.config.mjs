/** Without this file Next.js would use the service's configuration from a parent folder. */
export default {};
