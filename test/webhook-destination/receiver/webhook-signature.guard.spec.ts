import { Controller, HttpCode, type INestApplication, Post, UseGuards } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { OptionsError, signBody, WEBHOOK_SECRET, WebhookSignatureGuard } from 'nestjs-analytics-relay';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { listen, platforms } from '../../support/platforms.js';
import { LogLines, Relay } from '../../support/relay.js';

const STANDARD = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const SECRET_RULE =
  'after whsec_, a secret must be base64 of at least 24 bytes, and after whpk_ of an Ed25519 public key; whsk_ is the private key of the sender, and a receiver takes its public key; others must not begin or end with white space or a quote';
const PLAIN = 'a secret of 24 bytes ...';

@Controller()
class HookController {
  @Post('by-instance')
  @HttpCode(204)
  @UseGuards(new WebhookSignatureGuard(['new', 'old']))
  byInstance(): void {}

  @Post('by-standard')
  @HttpCode(204)
  @UseGuards(new WebhookSignatureGuard(STANDARD))
  byStandard(): void {}

  @Post('by-patient')
  @HttpCode(204)
  @UseGuards(new WebhookSignatureGuard([STANDARD], { tolerance: 600_000 }))
  byPatient(): void {}

  @Post('by-plain')
  @HttpCode(204)
  @UseGuards(new WebhookSignatureGuard(PLAIN))
  byPlain(): void {}

  @Post('by-class')
  @HttpCode(204)
  @UseGuards(WebhookSignatureGuard)
  byClass(): void {}
}

describe.each(platforms)('WebhookSignatureGuard on $platform', ({ createAdapter }) => {
  let app: INestApplication;
  let base: string;
  let log: LogLines;

  async function start(rawBody: boolean, secret = 'new'): Promise<void> {
    log = new LogLines();
    const testing = await Test.createTestingModule({
      controllers: [HookController],
      providers: [{ provide: WEBHOOK_SECRET, useValue: secret }],
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

  /** Headers of a request that was signed so many seconds ago. */
  function standardHeaders(secret: string, age = 0, format?: 'raw'): Record<string, string> {
    const at = Math.floor(Date.now() / 1_000) - age;
    const signature = new Webhook(secret, { format }).sign('shop:m1', new Date(at * 1_000), body);
    return { 'webhook-id': 'shop:m1', 'webhook-timestamp': String(at), 'webhook-signature': signature };
  }

  describe('with the raw body', () => {
    beforeEach(() => start(true));

    it('answers a request that is captured and sent again later with 401', async () => {
      const signatures = { 'X-Signature': signBody(body, STANDARD) };
      expect(await post('by-standard', { ...signatures, ...standardHeaders(STANDARD) })).toBe(204);
      expect(await post('by-standard', { ...signatures, ...standardHeaders(STANDARD, 310) })).toBe(401);
      expect(await post('by-standard', { ...standardHeaders(STANDARD), 'webhook-id': 'web:m1' })).toBe(401);
      // Without the headers that have the time in them.
      expect(await post('by-standard', signatures)).toBe(401);
    });

    it('does not fall back on X-Signature where the Standard Webhooks headers are wrong', async () => {
      const signatures = { 'X-Signature': signBody(body, PLAIN) };
      expect(await post('by-plain', signatures)).toBe(204);
      expect(await post('by-plain', { ...signatures, ...standardHeaders(PLAIN, 0, 'raw') })).toBe(204);
      expect(await post('by-plain', { ...signatures, ...standardHeaders(PLAIN, 310, 'raw') })).toBe(401);
    });

    it('lets X-Signature pass under a secret too short for the other headers', async () => {
      const signatures = { 'X-Signature': signBody(body, STANDARD), 'X-Signature-Previous': signBody(body, 'new') };
      expect(await post('by-class', { ...signatures, ...standardHeaders(STANDARD) })).toBe(204);
    });

    it('says why it refuses a request', async () => {
      const answer = await fetch(`${base}/by-class`, { method: 'POST', body });
      expect(await answer.json()).toMatchObject({ message: 'the signature is missing, wrong or too old' });
    });

    it('takes the tolerance that it is given', async () => {
      expect(await post('by-patient', standardHeaders(STANDARD, 310))).toBe(204);
      expect(await post('by-patient', standardHeaders(STANDARD, 610))).toBe(401);
    });

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

    it.each([
      ['a plain secret', 'by-class', 'new'],
      ['a longer plain secret', 'by-plain', PLAIN],
      ['a secret of Standard Webhooks', 'by-standard', STANDARD],
    ])('lets the relay itself pass under %s', async (_what, path, sharedSecret) => {
      const relay = await Relay.start({ destinations: [{ urls: [`${base}/${path}`], sharedSecret }] });
      await relay.track('m1');
      expect(await relay.settled('delivered')).toMatchObject([{ results: [{ status: 204 }] }]);
      await relay.stop();
    });
  });

  it('says once which headers it needs under a secret of Standard Webhooks', async () => {
    await start(true, STANDARD);
    for (let i = 0; i < 3; i++) expect(await post('by-class', { 'X-Signature': signBody(body, STANDARD) })).toBe(401);
    expect(log.matching(/^warn A request has only X-Signature/)).toHaveLength(1);
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

  it.each(['whsec_', 'whsec_bmV3', 'whsec_no base64 at all, and quite long', 'new\n', '"new"'])(
    'is not made with %j',
    (secret) => {
      const faults = [SECRET_RULE];
      expect(() => new WebhookSignatureGuard(secret)).toThrow(new OptionsError('WebhookSignatureGuard', faults));
      expect(() => new WebhookSignatureGuard(['good', secret])).toThrow(OptionsError);
    },
  );

  it('is not made with a tolerance that is no number', () => {
    const faults = ['tolerance must be a number of milliseconds, 0 or above'];
    expect(() => new WebhookSignatureGuard('new', { tolerance: '5m' as unknown as number })).toThrow(
      new OptionsError('WebhookSignatureGuard', faults),
    );
  });
});
