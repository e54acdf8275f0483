import { createConnection } from 'node:net';

/** Sends bytes as they are; resolves with what was answered until the server closed, and when the answer began. */
export function sendRaw(host: string, ...parts: string[]): Promise<{ text: string; after: number }> {
  const { port } = new URL(host);
  return new Promise((resolve, reject) => {
    const startedAt = Date.now();
    let text = '';
    let after = 0;
    const socket = createConnection(Number(port), '127.0.0.1', () =>
      parts.forEach((part) => socket.write(part, 'latin1')),
    );
    socket.on('data', (chunk) => {
      after ||= Date.now() - startedAt;
      text += chunk.toString();
    });
    socket.on('close', () => resolve({ text, after }));
    socket.on('error', reject);
  });
}
