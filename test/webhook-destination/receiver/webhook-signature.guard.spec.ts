import { Controller, HttpCode, type INestApplication, Post, UseGuards } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { OptionsError, signBody, WEBHOOK_SECRET, WebhookSignatureGuard } from 'nestjs-analytics-relay';

import { listen, platforms } from '../../support/platforms.js';
import { LogLines, Relay } from '../../support/relay.js';

@Controller()
class HookController {
  @Post('by-instance')
  @HttpCode(204)
  @UseGuards(new WebhookSignatureGuard(['new', 'old']))
  byInstance(): void {}

  @Post('by-class')
  @HttpCode(204)
  @UseGuards(WebhookSignatureGuard)
  byClass(): void {}
}

describe.each(platforms)('WebhookSignatureGuard on $platform', ({ createAdapter }) => {
  let app: INestApplication;
  let base: string;
  let log: LogLines;

  async function start(rawBody: boolean): Promise<void> {
    log = new LogLines();
    const testing = await Test.createTestingModule({
      controllers: [HookController],
      providers: [{ provide: WEBHOOK_SECRET, useValue: 'new' }],
    })
      .setLogger(log)
      .compile();
    app = testing.createNestApplication(createAdapter(), { rawBody });
    app.useLogger(log);
    base = await listen(app);
  }

  const body = '{ "spaces":  "and Zoë", "10": 1, "2": 2 }';
  async function post(path: string, headers: Record<string, string>, content = body): Promise<number> {
    const { status } = await fetch(`${base}/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: content,
    });
    return status;
  }

  afterEach(() => app.close());

  describe('with the raw body', () => {
    beforeEach(() => start(true));

    it.each(['by-instance', 'by-class'])('lets a signed request pass (%s)', async (path) => {
      expect(await post(path, { 'X-Signature': signBody(body, 'new') })).toBe(204);
    });

    it('lets a request pass that is signed under any of its secrets, in either header', async () => {
      expect(await post('by-instance', { 'X-Signature': signBody(body, 'old') })).toBe(204);
      const rotating = { 'X-Signature': signBody(body, 'newest'), 'X-Signature-Previous': signBody(body, 'new') };
      expect(await post('by-class', rotating)).toBe(204);
    });

    it.each([
      ['without a signature', {}, body],
      ['under another secret', { 'X-Signature': signBody(body, 'other') }, body],
      ['of another body', { 'X-Signature': signBody(body, 'new') }, '{}'],
      ['that is no signature', { 'X-Signature': 'x' }, body],
    ])('answers a request %s with 401', async (_what, headers, content) => {
      expect(await post('by-class', headers as Record<string, string>, content)).toBe(401);
    });

    it('lets the relay itself pass', async () => {
      const relay = await Relay.start({ destinations: [{ urls: [`${base}/by-class`], sharedSecret: 'new' }] });
      await relay.track('m1');
      expect(await relay.settled('delivered')).toMatchObject([{ results: [{ status: 204 }] }]);
      await relay.stop();
    });
  });

  it('answers with 401 and says what is missing when the application does not keep the raw body', async () => {
    await start(false);
    for (let i = 0; i < 3; i++) {
      expect(await post('by-class', { 'X-Signature': signBody(body, 'new') })).toBe(401);
    }
    expect(log.matching(/^warn .*rawBody: true/)).toHaveLength(1);
  });
});

describe('WebhookSignatureGuard', () => {
  const rule = 'the secret must be a non-empty string, or an array of them';
  const missing = ['', [], ['new', ''], undefined].map((secrets) => ({ secrets }));

  it.each(missing)('is not made with $secrets', ({ secrets }) => {
    expect(() => new WebhookSignatureGuard(secrets as string)).toThrow(
      new OptionsError('WebhookSignatureGuard', [rule]),
    );
  });

  it.each(missing)('stops the application whose WEBHOOK_SECRET is $secrets', async ({ secrets }) => {
    const testing = Test.createTestingModule({
      controllers: [HookController],
      providers: [{ provide: WEBHOOK_SECRET, useFactory: () => secrets }],
    });
    await expect(testing.compile()).rejects.toThrow(`WebhookSignatureGuard: ${rule}`);
  });
});
