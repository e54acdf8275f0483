/** The secret that encrypts stored write keys and webhook secrets. Without it, the process ends with a hint. */
export function registrySecret(): string {
  const secret = process.env.REGISTRY_SECRET;
  if (secret) return secret;
  console.error(`REGISTRY_SECRET is not set. It encrypts the stored write keys and webhook secrets, so each start needs the
same one, of 16 characters or more:
  REGISTRY_SECRET='a secret for this sample' npm start -w sample/06-tenants`);
  process.exit(1);
}
