import { toPrintable } from '../client/printable.util.js';
import { parseJson } from '../common/value.util.js';
import { toJson } from './command.util.js';
import type { Verdict } from './webhook-verdict.util.js';

/** Events whose last message is kept. */
const MAX_EVENTS = 500;

/** Levels of objects that are compared field by field; what lies deeper is compared as a whole. */
const MAX_DEPTH = 20;

const [RED, GREEN, YELLOW, BOLD, DIM] = [31, 32, 33, 1, 2];

/** Prints webhooks: the first of an event with its body, later ones with their difference to the last. */
export class WebhookPrinter {
  private readonly last = new Map<string, Map<string, string>>();

  print(rawBody: Buffer, { isValid, text: verdict }: Verdict, outcome: string): void {
    const time = new Date().toLocaleTimeString('en-GB', { hour12: false });
    const body = readBody(rawBody);
    const subject = body ? `${body.title}  ${body.user}` : 'a body that is not a JSON object';
    const colour = isValid === undefined ? YELLOW : isValid ? GREEN : RED;
    const head = `${paint(DIM, time)}  ${paint(BOLD, toPrintable(subject))}  ${paint(colour, verdict)}`;
    const lines = body ? this.describe(body) : [paint(DIM, toPrintable(rawBody.toString()))];
    process.stdout.write(`${head}  -> ${toPrintable(outcome)}\n${lines.map((line) => `  ${line}\n`).join('')}`);
  }

  private describe({ title, fields, json }: ReadBody): string[] {
    const before = this.last.get(title);
    this.last.delete(title);
    this.last.set(title, fields);
    if (this.last.size > MAX_EVENTS) this.last.delete(this.last.keys().next().value!);
    if (!before) return json.trimEnd().split('\n');
    const lines = [...new Set([...before.keys(), ...fields.keys()])].flatMap((field) => {
      const [old, now] = [before.get(field), fields.get(field)];
      if (old === now) return [];
      if (old === undefined) return paint(GREEN, toPrintable(`+ ${field}: ${now}`));
      if (now === undefined) return paint(RED, toPrintable(`- ${field}: ${old}`));
      return paint(YELLOW, toPrintable(`~ ${field}: ${old} -> ${now}`));
    });
    return lines.length > 0 ? lines : [paint(DIM, 'the same as the last one')];
  }
}

interface ReadBody {
  title: string;
  user: string;
  /** JSON of each value that is not an object, by its path. */
  fields: Map<string, string>;
  json: string;
}

/** Returns `undefined` for a body that is not a JSON object, or too deep to be printed. */
function readBody(rawBody: Buffer): ReadBody | undefined {
  const body = parseJson(rawBody.toString());
  if (typeof body !== 'object' || body === null) return undefined;
  try {
    const { type, event, name, userId, anonymousId, 'User ID': newUserId } = body as Record<string, unknown>;
    const title = [type, event ?? name].filter((part) => typeof part === 'string').join('  ') || 'no type';
    const user = [userId, newUserId, anonymousId].find((id): id is string => typeof id === 'string') ?? 'no user';
    return { title, user, fields: new Map(fieldsOf(body, '', 1)), json: toJson(body) };
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown, path: string, depth: number): [string, string][] {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || Object.keys(value).length === 0) {
    return [[path, JSON.stringify(value)]];
  }
  return Object.entries(value).flatMap(([key, each]) => fieldsOf(each, path ? `${path}.${key}` : key, depth + 1));
}

/** @see https://no-color.org */
function paint(code: number, text: string): string {
  return process.stdout.isTTY && !process.env.NO_COLOR ? `\x1b[${code}m${text}\x1b[0m` : text;
}
