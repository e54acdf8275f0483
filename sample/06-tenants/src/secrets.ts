/** Returns the secrets of the application. Without them, the process ends with a hint. */
export function secrets(): { registrySecret: string; portalSecret: string } {
  const { REGISTRY_SECRET: registrySecret, PORTAL_SECRET: portalSecret } = process.env;
  if (registrySecret && portalSecret) return { registrySecret, portalSecret };
  console.error(`REGISTRY_SECRET and PORTAL_SECRET must be set, and be the same at each start. The first encrypts stored
secrets (16 characters or more), the second signs links to the portal (32 bytes or more):
  REGISTRY_SECRET='a secret for this sample' PORTAL_SECRET='another secret for this sample, longer' \\
    npm start -w sample/06-tenants`);
  process.exit(1);
}
