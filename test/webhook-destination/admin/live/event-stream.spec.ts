import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

import { type CanActivate, Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';

import { EventStream } from '../../../../lib/webhook-destination/admin/live/event-stream.js';
import type { LiveEvent } from '../../../../lib/webhook-destination/admin/live/live.event.js';
import { useCleanUps } from '../../../support/clean-ups.js';
import { platforms } from '../../../support/platforms.js';
import { waitFor } from '../../../support/wait-for.js';
import { READ_TOKEN, readStream, startApi, TOKEN } from '../api/support.js';

const REQUEST = `GET /relay/api/events HTTP/1.1\r\nHost: relay\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
const TWO_REQUESTS = REQUEST.replace('events', 'overview') + REQUEST;

const NEVER = new Promise<boolean>(() => undefined);

describe('EventStream', () => {
  const cleanUp = useCleanUps();

  /** A reader that does not read yet, and the response that it gets. */
  async function open() {
    const server = createServer().listen(0, '127.0.0.1');
    cleanUp(() => server.close());
    await once(server, 'listening');
    const reader = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
    cleanUp(() => reader.destroy());
    reader.on('error', () => undefined).write(REQUEST);
    const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    return { server, reader, response };
  }

  it('skips what it has no room for, counts it, and takes events again after a pause', async () => {
    const { reader, response } = await open();
    let text = '';
    reader.on('data', (chunk: Buffer) => (text += chunk.toString())).resume();
    const stream = new EventStream(response, {}, 'process');
    const event: LiveEvent = { kind: 'message', at: 1, source: 'shop' };
    while (!stream.skips(7)) stream.send(event);
    expect(stream.skips(5)).toBe(true);
    await waitFor(() => text.includes('data: {"count":12}'));
    await waitFor(() => !stream.skips(0));
    const shown = () => text.split('event: message\n').length;
    const before = shown();
    stream.send(event);
    await waitFor(() => shown() === before + 1);
  });

  it('looks at every event where it has a filter', async () => {
    const { response } = await open();
    const stream = new EventStream(response, { source: 'shop' }, 'process');
    for (let count = 0; count < 1_000; count++) stream.send({ kind: 'message', at: 1, source: 'shop' });
    expect(stream.skips(1)).toBe(false);
  });

  it('ends, though its reader takes nothing', async () => {
    const { response } = await open();
    const stream = new EventStream(response, {}, 'process');
    response.write(Buffer.alloc(64 * 1024 * 1024)); // more than the kernel takes
    stream.end();
    await stream.closed;
  });

  it('ends, though the answer before it on its connection does not', async () => {
    const { server, reader } = await open();
    reader.write(REQUEST);
    const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    const stream = new EventStream(response, {}, 'process');
    stream.end();
    await stream.closed;
  });
});

describe.each(platforms)('A live stream on $platform', ({ createAdapter }) => {
  const cleanUp = useCleanUps();

  /** A reader that sends its request, and reads nothing; and the server's end of its connection. */
  async function connectReader({ app, host }: Awaited<ReturnType<typeof startApi>>, requests = REQUEST) {
    const connected = once(app.getHttpServer() as Server, 'connection') as Promise<[Socket]>;
    const socket = connect(Number(new URL(host).port), '127.0.0.1').pause();
    cleanUp(() => socket.destroy());
    socket.on('error', () => undefined);
    socket.write(requests);
    const [peer] = await connected;
    return { socket, peer };
  }

  it('is not opened while the application shuts down', async () => {
    let refused: Response | undefined;
    @Injectable()
    class Reconnecting {
      /** Comes after the streams have ended, and before the server takes no more requests. */
      async beforeApplicationShutdown(): Promise<void> {
        refused = await api.ask('GET', 'events');
      }
    }
    const api = await startApi(cleanUp, createAdapter(), { metadata: { providers: [Reconnecting] } });
    const { hasEnded } = await readStream(await api.ask('GET', 'events'));
    let isClosed = false;
    void api.app.close().then(() => (isClosed = true));
    await waitFor(() => isClosed && hasEnded(), undefined, 10_000);
    expect([refused!.status, await refused!.json()]).toEqual([503, expect.objectContaining({ code: 'closed' })]);
  });

  it('is opened 10 times for a caller, and 40 times for those who may only read, so others get one', async () => {
    const { ask } = await startApi(cleanUp, createAdapter(), {
      options: { ingest: { clientAddress: ({ headers }) => headers['x-client'] as string | undefined } },
    });
    const open = async (client: number, token: string) => {
      const response = await ask('GET', 'events', { token, headers: { 'X-Client': `192.0.2.${client}` } });
      cleanUp(() => (response.bodyUsed ? undefined : response.body!.cancel()));
      return response;
    };
    for (let client = 1; client <= 4; client++) {
      for (let count = 1; count <= 10; count++) expect((await open(client, READ_TOKEN)).status).toBe(200);
      const refused = await open(client, READ_TOKEN);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
      expect(await refused.json()).toMatchObject({ code: 'too_many_streams' });
    }
    expect((await open(5, READ_TOKEN)).status).toBe(503);
    expect((await open(5, TOKEN)).status).toBe(200);
  });

  it('leaves its place to others if its client leaves before the answer that comes first', async () => {
    let asked = 0;
    const guard: CanActivate = {
      canActivate: (context) => {
        const { url, headers } = context.switchToHttp().getRequest<IncomingMessage>();
        if (!headers.authorization) return false; // the relay asks without at its start
        asked++;
        return url!.endsWith('/overview') ? NEVER : true;
      },
    };
    const api = await startApi(cleanUp, createAdapter(), { admin: { guard, access: () => 'read' } });
    const sockets: Socket[] = [];
    for (let count = 1; count <= 10; count++) {
      sockets.push((await connectReader(api, TWO_REQUESTS)).socket);
    }
    await waitFor(() => asked === 20);
    expect((await api.ask('GET', 'events')).status).toBe(503);
    for (const socket of sockets) socket.destroy();
    await waitFor(async () => {
      const { status, body } = await api.ask('GET', 'events');
      await body!.cancel();
      return status === 200;
    });
  });

  it.each([
    { sent: 1, requests: REQUEST },
    { sent: 2, requests: TWO_REQUESTS },
  ])('is not made for clients that leave while a guard decides, with $sent sent', async ({ sent, requests }) => {
    let asked = 0;
    let admit!: (admitted: boolean) => void;
    const decision = new Promise<boolean>((resolve) => (admit = resolve));
    const guard: CanActivate = {
      canActivate: (context) => {
        const { url, headers } = context.switchToHttp().getRequest<IncomingMessage>();
        if (!headers.authorization) return false; // the relay asks without at its start
        asked++;
        return url!.endsWith('/overview') ? NEVER : decision;
      },
    };
    const api = await startApi(cleanUp, createAdapter(), {
      admin: { guard, access: () => 'read' },
      options: { ingest: { clientAddress: () => '192.0.2.1' } }, // all are one caller, who may have 10 streams
    });
    const left: Promise<unknown>[] = [];
    for (let count = 1; count <= 10; count++) {
      const { socket, peer } = await connectReader(api, requests);
      left.push(once(peer, 'close'));
      await waitFor(() => asked === sent * count);
      socket.destroy();
    }
    await Promise.all(left);
    admit(true);
    const response = await api.ask('GET', 'events');
    expect(response.status).toBe(200);
    await response.body!.cancel();
  });
});
