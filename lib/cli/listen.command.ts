import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ArgumentError } from '../common/relay.errors.js';
import { isNonEmptyString } from '../common/value.util.js';
import {
  isVerifyingSecret,
  publicKeyOf,
  VERIFYING_RULE,
} from '../webhook-destination/receiver/webhook-secret.rules.js';
import { argumentFault, defineCommand } from './command.util.js';
import { forwardWebhook } from './webhook-forwarder.util.js';
import { WebhookPrinter } from './webhook.printer.js';
import { verifyWebhook } from './webhook-verdict.util.js';

/** Larger than any webhook of the relay that has no `transform`. */
const MAX_BODY_BYTES = 1_048_576;

export const command = defineCommand({
  usage: `Usage: nestjs-analytics-relay listen [options]

Receives webhooks at a developer's desk: verifies each, prints it, then what changed since the last one of that event.
It answers 204, or 401 if the signature is missing, wrong or too old. Stop it with Ctrl+C.

  --secret <secret>     the shared secret, or the public key (whpk_); repeat the option during a rotation; default:
                        WEBHOOK_SECRET of the environment, which other users of the machine cannot see; without one,
                        nothing is verified
  --port <port>         port on 127.0.0.1; default: 4000; 0 chooses a free one
  --status <status>     answer this status, 200 to 599, to every webhook;
                        while it runs: curl -X PUT http://127.0.0.1:4000/503
  --forward <url>       pass each webhook on to this URL, and answer with its answer
  --help                show this help
`,
  options: {
    secret: { type: 'string', multiple: true },
    port: { type: 'string', default: '4000' },
    status: { type: 'string' },
    forward: { type: 'string' },
  },
  run: async ({ secret, port, status, forward }) => {
    const given = secret ?? [process.env.WEBHOOK_SECRET].filter(isNonEmptyString);
    // The environment may be that of the sender.
    const secrets = given.map((value) => publicKeyOf(value) ?? value);
    if (!secrets.every(isVerifyingSecret)) throw argumentFault(`the secret must not be empty; ${VERIFYING_RULE}`);
    if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw argumentFault('--port must be a port, 0 to 65535');
    if (status !== undefined && !isStatus(status)) throw argumentFault('--status must be an HTTP status, 200 to 599');
    if (forward !== undefined && !(/^https?:\/\//i.test(forward) && URL.canParse(forward))) {
      throw argumentFault('--forward must be the URL, http:// or https://, that receives the webhooks');
    }
    if (status !== undefined && forward !== undefined) throw argumentFault('--status and --forward cannot be combined');
    await listen(Number(port), secrets, status === undefined ? undefined : Number(status), forward);
  },
});

/** Serves webhooks until the process is asked to end. */
async function listen(port: number, secrets: string[], status: number | undefined, forward: string | undefined) {
  const printer = new WebhookPrinter();

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const rawBody = await readBody(request);
    if (rawBody === undefined) return answer(response, 413, 'A body may have 1 MB');
    const verdict = verifyWebhook(rawBody, request.headers, secrets);
    response.once('close', () => printer.print(rawBody, verdict, outcomeOf(response)));
    if (forward !== undefined) return forwardWebhook(forward, request, rawBody, response);
    answer(response, status ?? (verdict.isValid === false ? 401 : 204));
  };

  const server = createServer((request, response) => {
    const { method, url = '/' } = request;
    if (method === 'POST') {
      receive(request, response).catch(() => response.destroy()); // the sender closed the connection
    } else if (method === 'PUT' && isStatus(url.slice(1))) {
      if (forward !== undefined) return answer(response, 409, 'With --forward, the answers are those of its URL');
      status = Number(url.slice(1));
      process.stdout.write(`Webhooks are now answered with ${status}\n`);
      answer(response, 200, `Webhooks are now answered with ${status}`);
    } else {
      response.setHeader('Allow', 'POST, PUT');
      answer(response, 405, 'POST a webhook, or PUT /503 to answer webhooks with the status 503');
    }
  });
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new ArgumentError(`port ${port} is in use; choose another with --port`);
  }
  const { port: actual } = server.address() as AddressInfo;
  const unverified = secrets.length === 0 ? '; signatures are not verified, because there is no --secret' : '';
  process.stdout.write(`Listening at http://127.0.0.1:${actual}${unverified}\n`);
  await Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)));
}

function isStatus(text: string): boolean {
  return /^[2-5]\d\d$/.test(text);
}

/** Resolves with `undefined` for a body that is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined;
}

function answer(response: ServerResponse, status: number, text = ''): void {
  response.statusCode = status;
  response.end(text && `${text}\n`);
}

function outcomeOf(response: ServerResponse): string {
  const { writableFinished, statusCode, statusMessage } = response;
  return writableFinished ? `${statusCode} ${statusMessage}` : 'no answer: the sender closed the connection';
}
