import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { publicKeyOf } from 'nestjs-analytics-relay';
import { beforeAll, describe, expect, it } from 'vitest';

import { useCleanUps } from '../support/clean-ups.js';
import { type ReceivedWebhook, Receiver } from '../support/receiver.js';
import { Relay } from '../support/relay.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const run = promisify(execFile);
const verify = fileURLToPath(new URL('../../portal/verify/', import.meta.url));

/** A request to verify, and what to verify it with. */
interface Case {
  what: string;
  body: string;
  headers: Record<string, string>;
  key: string;
  isGenuine: boolean;
}

interface Language {
  name: string;
  /** The code that the portal shows. */
  snippet: string;
  /** Its name in the test's folder, and a program that reads the file `cases` and prints one line for each. */
  file: string;
  main: [file: string, text: string];
  /** Program and arguments that answer if the language is installed. */
  probe: string[];
  /** Commands that run the program. */
  commands: string[][];
  /** Program and arguments that answer if it can verify with public keys. */
  asymmetric?: string[];
}

/** One case is three lines: body in base64, headers as `name=value` in base64, separated by a comma, and key. */
const LANGUAGES: Language[] = [
  {
    name: 'Node.js',
    snippet: 'node.js',
    file: 'verify.mjs',
    main: [
      'main.mjs',
      `import { readFileSync } from 'node:fs';
import { isGenuine } from './verify.mjs';
const lines = readFileSync('cases', 'utf8').trimEnd().split('\\n');
for (let i = 0; i < lines.length; i += 3) {
  const texts = lines[i + 1].split(',').map((text) => Buffer.from(text, 'base64').toString());
  const headers = Object.fromEntries(texts.map((text) => [text.split('=')[0], text.slice(text.indexOf('=') + 1)]));
  console.log(isGenuine(Buffer.from(lines[i], 'base64'), headers, lines[i + 2]));
}`,
    ],
    probe: [process.execPath, '--version'],
    commands: [[process.execPath, 'main.mjs']],
  },
  {
    name: 'Python',
    snippet: 'python.py',
    file: 'verify.py',
    main: [
      'main.py',
      `import base64
from verify import is_genuine
lines = open("cases").read().splitlines()
for body, headers, key in zip(lines[0::3], lines[1::3], lines[2::3]):
    fields = dict(base64.b64decode(text).decode().split("=", 1) for text in headers.split(","))
    print("true" if is_genuine(base64.b64decode(body), fields, key) else "false")`,
    ],
    probe: ['python3', '--version'],
    commands: [['python3', 'main.py']],
    asymmetric: ['python3', '-c', 'import cryptography'],
  },
  {
    name: 'Go',
    snippet: 'go.go',
    file: 'webhooks/verify.go',
    main: [
      'main.go',
      `package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strings"

	"verify/webhooks"
)

func main() {
	text, _ := os.ReadFile("cases")
	lines := strings.Split(strings.TrimRight(string(text), "\\n"), "\\n")
	for i := 0; i < len(lines); i += 3 {
		body, _ := base64.StdEncoding.DecodeString(lines[i])
		header := http.Header{}
		for _, encoded := range strings.Split(lines[i+1], ",") {
			field, _ := base64.StdEncoding.DecodeString(encoded)
			name, value, _ := strings.Cut(string(field), "=")
			header.Set(name, value)
		}
		fmt.Println(webhooks.IsGenuine(body, header, lines[i+2]))
	}
}`,
    ],
    probe: ['go', 'version'],
    commands: [
      ['go', 'mod', 'init', 'verify'],
      ['go', 'run', '.'],
    ],
  },
  {
    name: 'Ruby',
    snippet: 'ruby.rb',
    file: 'verify.rb',
    main: [
      'main.rb',
      `require_relative 'verify'
File.read('cases').split("\\n").each_slice(3) do |body, headers, key|
  fields = headers.split(',').to_h { |text| text.unpack1('m').split('=', 2) }
  puts genuine?(body.unpack1('m'), fields, key)
end`,
    ],
    probe: ['ruby', '--version'],
    commands: [['ruby', 'main.rb']],
  },
  {
    name: 'PHP',
    snippet: 'php.php',
    file: 'verify.php',
    main: [
      'main.php',
      `<?php
require 'verify.php';
foreach (array_chunk(file('cases', FILE_IGNORE_NEW_LINES), 3) as [$body, $texts, $key]) {
    $headers = [];
    foreach (explode(',', $texts) as $text) {
        [$name, $value] = explode('=', base64_decode($text), 2);
        $headers[$name] = $value;
    }
    echo is_genuine(base64_decode($body), $headers, $key) ? "true\\n" : "false\\n";
}`,
    ],
    probe: ['php', '--version'],
    commands: [['php', 'main.php']],
    asymmetric: ['php', '-r', 'exit(function_exists("sodium_crypto_sign_verify_detached") ? 0 : 1);'],
  },
  {
    name: 'Java',
    snippet: 'java.java',
    file: 'Webhooks.java',
    main: [
      'Main.java',
      `import java.nio.file.*;
import java.util.*;

class Main {
    public static void main(String[] args) throws Exception {
        List<String> lines = Files.readAllLines(Path.of("cases"));
        Base64.Decoder decoder = Base64.getDecoder();
        for (int i = 0; i < lines.size(); i += 3) {
            Map<String, String> headers = new HashMap<>();
            for (String text : lines.get(i + 1).split(",")) {
                String[] field = new String(decoder.decode(text)).split("=", 2);
                headers.put(field[0], field[1]);
            }
            System.out.println(Webhooks.isGenuine(decoder.decode(lines.get(i)), headers, lines.get(i + 2)));
        }
    }
}`,
    ],
    probe: ['javac', '-version'],
    commands: [
      ['javac', 'Main.java', 'Webhooks.java'],
      ['java', 'Main'],
    ],
  },
];

const isInstalled = ([program, ...args]: string[]): Promise<boolean> =>
  run(program!, args).then(
    () => true,
    () => false,
  );

const newKey = () => `whsk_${randomBytes(32).toString('base64')}`;
const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const PRIVATE = newKey();
const PUBLIC = publicKeyOf(PRIVATE)!;

describe('The code that the portal shows to verify a signature', () => {
  const cleanUp = useCleanUps();
  /** Requests as a relay sends them during a rotation between both kinds of secrets, and requests that are wrong. */
  const cases: Case[] = [];

  beforeAll(async () => {
    const receiver = await Receiver.start();
    const relay = await Relay.start({
      destinations: [
        { name: 'both', urls: [receiver.url], sharedSecret: [SECRET, PRIVATE] },
        { name: 'shared', urls: [receiver.url], sharedSecret: SECRET },
        { name: 'private', urls: [receiver.url], sharedSecret: PRIVATE },
      ],
    });
    await relay.service.accept('wk_shop', [
      {
        type: 'track',
        userId: 'Zoë',
        event: 'Ordered',
        properties: { text: '🙂 " \\ \u2028 =,' },
        messageId: 'm=1, 2',
      },
    ]);
    const webhooks = await receiver.received(3);
    await relay.stop();
    await receiver.stop();
    const signed = (webhook: ReceivedWebhook): Pick<Case, 'body' | 'headers'> => ({
      body: webhook.raw.toString('base64'),
      headers: Object.fromEntries(
        ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [name, webhook.headers[name] as string]),
      ),
    });
    for (const webhook of webhooks) {
      const request = signed(webhook);
      const signatures = request.headers['webhook-signature']!;
      const isOld = String(Number(request.headers['webhook-timestamp']) - 301);
      for (const [key, scheme] of [
        [SECRET, 'v1'],
        [PUBLIC, 'v1a'],
      ] as const) {
        const isGenuine = signatures.split(' ').some((signature) => signature.startsWith(`${scheme},`));
        const changed = (headers: Record<string, string>) => ({
          ...request,
          headers: { ...request.headers, ...headers },
        });
        const other = scheme === 'v1' ? `whsec_${randomBytes(32).toString('base64')}` : publicKeyOf(newKey())!;
        const flipped = scheme === 'v1' ? signatures.replace('v1,', 'v1a,') : signatures.replace('v1a,', 'v1,');
        const wrong: [string, Pick<Case, 'body' | 'headers'>, string][] = [
          ['another body', { ...request, body: Buffer.from('{}').toString('base64') }, key],
          ['another id', changed({ 'webhook-id': 'shop:m2' }), key],
          ['an old time', changed({ 'webhook-timestamp': isOld }), key],
          ['a time that is no number', changed({ 'webhook-timestamp': 'now' }), key],
          ['a huge time', changed({ 'webhook-timestamp': '9'.repeat(5_000) }), key],
          ['no time', changed({ 'webhook-timestamp': '' }), key],
          ['no signature', changed({ 'webhook-signature': '' }), key],
          ['a cut signature', changed({ 'webhook-signature': `${scheme},AAAA` }), key],
          ['a signature that is no base64', changed({ 'webhook-signature': `${scheme},*** ${scheme} ,` }), key],
          ['another key', request, other],
          ...(signatures.includes(' ')
            ? []
            : [['another scheme', changed({ 'webhook-signature': flipped }), key] as never]),
        ];
        cases.push({ what: `${scheme} of ${signatures}`, ...request, key, isGenuine });
        cases.push(...wrong.map(([what, each, given]) => ({ what, ...each, key: given, isGenuine: false })));
      }
    }
    expect(cases.filter(({ isGenuine }) => isGenuine)).toHaveLength(4);
  });

  it.for(LANGUAGES)('accepts what a relay sent and nothing else: $name', async (language, { skip }) => {
    const { name, snippet, file, main, probe, commands, asymmetric } = language;
    if (!(await isInstalled(probe))) return skip(`${name} is not installed`);
    const knows = !asymmetric || (await isInstalled(asymmetric));
    const given = cases.filter(({ key }) => knows || key.startsWith('whsec_'));
    const folder = await temporaryFolder(cleanUp);
    await mkdir(folder.path('webhooks'), { recursive: true });
    await copyFile(`${verify}${snippet}`, folder.path(file));
    await writeFile(folder.path(main[0]), main[1]);
    const text = given.map(({ body, headers, key }) => {
      const fields = Object.entries(headers).map(([field, value]) =>
        Buffer.from(`${field}=${value}`).toString('base64'),
      );
      return `${body}\n${fields.join(',')}\n${key}\n`;
    });
    await writeFile(folder.path('cases'), text.join(''));
    let stdout = '';
    for (const [program, ...args] of commands) ({ stdout } = await run(program!, args, { cwd: folder.path('.') }));
    const verdicts = stdout.trimEnd().split('\n');
    expect(given.map(({ what }, index) => `${what}: ${verdicts[index]}`)).toEqual(
      given.map(({ what, isGenuine }) => `${what}: ${isGenuine}`),
    );
  });

  it.each(LANGUAGES)('is short: $snippet', async ({ snippet }) => {
    const text = await readFile(`${verify}${snippet}`, 'utf8');
    expect(text.split('\n').length).toBeLessThan(60);
  });
});
