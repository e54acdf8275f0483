import { Writable } from 'node:stream';

import { ConsoleLogger, type LoggerService, type ModuleMetadata } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { memoryQueue, WebhookDestinationModule, WebhookDestinationService } from 'nestjs-analytics-relay';
import { LoggerModule, NativeLogger } from 'nestjs-pino';
import { describe, expect, it, vi } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { Receiver } from '../support/receiver.js';
import { refusingUrl } from '../support/scripted-receiver.js';
import { waitFor } from '../support/wait-for.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

/** The loggers of Nest 11 write the fields as a line of their own, so there they get none. */
const keepsFields = 'stringifyParams' in ConsoleLogger.prototype;

/** A line of the log, as an object. */
type Line = Record<string, unknown> & { params?: Record<string, unknown> };

/** A logger that writes JSON, and how an application comes by it. */
interface JsonLogger {
  name: string;
  /** Name of the field with the text. */
  text: string;
  imports: (write: (line: string) => void) => ModuleMetadata['imports'];
  create: (get: <T>(type: new (...args: never[]) => T) => T) => LoggerService;
}

const consoleLogger: JsonLogger = {
  name: "Nest's ConsoleLogger with json: true",
  text: 'message',
  imports: (write) => {
    for (const stream of [process.stdout, process.stderr]) {
      vi.spyOn(stream, 'write').mockImplementation((chunk: unknown) => (write(String(chunk)), true));
    }
    return [];
  },
  create: () => new ConsoleLogger({ json: true, colors: false }),
};

/** nestjs-pino writes to the first stream of the process. */
const pinoStream = Object.assign(
  new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      pinoStream.take(chunk.toString());
      done();
    },
  }),
  { take: (_line: string): void => undefined },
);

const pinoLogger: JsonLogger = {
  name: "nestjs-pino's NativeLogger",
  text: 'msg',
  imports: (write) => {
    pinoStream.take = write;
    return [LoggerModule.forRoot({ pinoHttp: [{ level: 'info' }, pinoStream] })];
  },
  create: (get) => get(NativeLogger),
};

describe.each([consoleLogger, pinoLogger])('Lines of the log by $name', ({ text, imports, create }) => {
  const afterwards = useCleanUps();

  async function start(url: string) {
    const lines: Line[] = [];
    const write = (line: string) =>
      lines.push(
        ...line
          .trim()
          .split('\n')
          .map((each) => JSON.parse(each) as Line),
      );
    afterwards(() => vi.restoreAllMocks());
    const relayModule = WebhookDestinationModule.forRoot({
      sources: [{ name: 'shop', writeKey: 'wk_shop' }],
      destinations: [{ name: 'CRM', urls: [url] }],
      queue: memoryQueue(),
      delivery: { allowedNetworks: ['127.0.0.0/8'], initialRetryDelay: 1, maxRetryDelay: 1 },
    });
    const testing = await Test.createTestingModule({ imports: [...imports(write)!, relayModule] }).compile();
    const app = testing.createNestApplication(new ExpressAdapter(), { bufferLogs: true });
    afterwards(() => app.close());
    app.useLogger(create((type) => app.get(type)));
    await app.init();
    const matching = (pattern: RegExp) => lines.filter((line) => pattern.test(String(line[text])));
    const first = async (pattern: RegExp): Promise<Line> => {
      await waitFor(
        () => matching(pattern).length > 0,
        () => `a line like ${pattern}, got ${JSON.stringify(lines)}`,
      );
      return matching(pattern)[0]!;
    };
    return { relay: app.get(WebhookDestinationService), lines, first };
  }

  it('have the ids and figures of a delivery as fields, beside the same text', async () => {
    const receiver = await Receiver.start();
    afterwards(() => receiver.stop());
    receiver.statuses = [503, 400];
    const { relay, lines, first } = await start(receiver.url);
    const context = { traceparent: `00-${TRACE}-b7ad6b7169203331-01` };
    await relay.accept('wk_shop', [{ type: 'track', userId: 'u1', event: 'Ordered', messageId: 'm\u202e1', context }]);

    const retry = await first(/next attempt at/);
    const dead = await first(/the delivery is dead and kept for replay/);
    expect(retry[text]).toContain('Message "m\\u202e1" to CRM, attempt 1 failed (http://127.0.0.1:');
    expect(retry.context).toBe('WebhookDispatcher');
    const [delivery] = await relay.deliveries();
    const fields = {
      messageId: 'm\\u202e1',
      deliveryId: delivery!.id,
      destination: 'CRM',
      traceId: TRACE,
      latencyMs: expect.any(Number),
    };
    expect([retry.params, dead.params]).toEqual(
      keepsFields
        ? [
            { ...fields, attempt: 1, status: 503 },
            { ...fields, attempt: 2, status: 400 },
          ]
        : [undefined, undefined],
    );
    // No line is of the fields alone.
    expect(lines.filter((line) => typeof line[text] !== 'string')).toEqual([]);
  });

  it('have no field without a value', async () => {
    const { relay, first } = await start(await refusingUrl());
    const messages = Array.from({ length: 20 }, (_, index) => ({
      type: 'track',
      userId: 'u1',
      event: 'Ordered',
      messageId: `m${index}`,
    }));
    await relay.accept('wk_shop', messages);
    const retry = await first(/next attempt at/);
    const names = ['attempt', 'deliveryId', 'destination', 'latencyMs', 'messageId'];
    expect(Object.keys(retry.params ?? {}).sort()).toEqual(keepsFields ? names : []);
    const down = await first(/^Destination CRM is down/);
    expect(down.params).toEqual(keepsFields ? { destination: 'CRM' } : undefined);
  });
});
