import 'reflect-metadata';

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { NestFactory } from '@nestjs/core';
import { verifySignature } from 'nestjs-analytics-relay';

import { AppModule } from './app.module.js';

const HOOK_SECRET = 'secret';

/** The quick start, with a receiver of its own: one order, and its webhook. */
async function main(): Promise<void> {
  let receive: (line: string) => void;
  const received = new Promise<string>((resolve) => (receive = resolve));
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.writeHead(204).end();
      const body = Buffer.concat(chunks);
      const isSigned = verifySignature(body, request.headers['x-signature'] as string, HOOK_SECRET);
      const { event, properties } = JSON.parse(body.toString()) as Record<string, unknown>;
      receive(`signed: ${isSigned}, ${event} ${JSON.stringify(properties)}`);
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  Object.assign(process.env, { HOOK_SECRET, HOOK_URL: `http://127.0.0.1:${port}/hook` });

  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await app.listen(0, '127.0.0.1');
  await fetch(`${await app.getUrl()}/orders`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ userId: 'u-1', total: 42 }),
  });
  await app.close(); // What is queued is delivered, or kept for the next start.
  const again = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  await again.init();
  console.log(await received);
  await again.close();
  receiver.close();
}

void main();
