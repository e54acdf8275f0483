/** Returns host and port of a valid http or https URL, as `server.address` and `server.port` name them. */
export function serverOf(url: string): { address: string; port: number } {
  const { hostname, port, protocol } = new URL(url);
  return { address: hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)) };
}
