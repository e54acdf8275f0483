/** The URL of each destination's receiver: an address of its own, from 127.0.1.1 on. */
export function receiverUrl(index: number, port: string | number): string {
  const address = `127.${Math.floor(index / 62_500)}.${(Math.floor(index / 250) % 250) + 1}.${(index % 250) + 1}`;
  return `http://${address}:${port}/hook`;
}
