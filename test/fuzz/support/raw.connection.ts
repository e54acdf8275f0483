import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Bytes for a server, whether or not they are a request. */
export interface RawRequest {
  /** Written one after the other. */
  parts: Buffer[];
  /** Between them, in ms. */
  pause?: number;
  /** Written once the answer has come. */
  afterwards?: Buffer;
  /** What the client does once it has written them. By default it takes the answer, and keeps the connection. */
  then?: 'leave' | 'half-close' | 'vanish';
}

export interface RawAnswer {
  /** Undefined when the connection was closed without an answer. */
  status: number | undefined;
  headers: Map<string, string>;
  body: string;
  /** From the last byte written to the first of the answer, or to the end of the connection, in ms. */
  after: number;
}

/** Longest wait for an answer, in ms: well above what is allowed. */
const GIVE_UP = 10_000;

/** A client that writes bytes as they are, on a connection that it keeps while the server does. */
export class RawConnection {
  private socket: Socket | undefined;

  constructor(private readonly port: number) {}

  /** Resolves with the answer; its status is 0 where none came in a long time. */
  async send({ parts, pause = 0, afterwards, then }: RawRequest): Promise<RawAnswer> {
    const socket = (this.socket ??= await open(this.port));
    const answer = readAnswer(socket);
    for (const [index, part] of parts.entries()) {
      if (index > 0 && pause > 0) await sleep(pause);
      if (socket.writable) socket.write(part);
    }
    const writtenAt = performance.now();
    if (then === 'half-close') socket.end();
    if (then === 'vanish') socket.destroy();
    const { endedAt, ...rest } = await answer;
    if (afterwards && socket.writable) socket.write(afterwards);
    if (then !== undefined || rest.headers.get('connection') !== 'keep-alive') this.close();
    return { ...rest, after: endedAt - writtenAt };
  }

  close(): void {
    this.socket?.destroy();
    this.socket = undefined;
  }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    socket.once('connect', () => resolve(socket)).on('error', reject);
  });
}

function readAnswer(socket: Socket): Promise<Omit<RawAnswer, 'after'> & { endedAt: number }> {
  return new Promise((resolve) => {
    let text = '';
    let firstAt: number | undefined;
    const finish = (status: number | undefined, headers = new Map<string, string>(), body = '') => {
      clearTimeout(timer);
      socket.off('data', take).off('close', ended).off('end', ended);
      resolve({ status, headers, body, endedAt: firstAt ?? performance.now() });
    };
    const take = (chunk: Buffer) => {
      firstAt ??= performance.now();
      text += chunk.toString('latin1');
      const answer = parseAnswer(text);
      if (answer) finish(answer.status, answer.headers, answer.body);
    };
    const ended = () => {
      const answer = parseAnswer(text, true);
      finish(answer?.status, answer?.headers, answer?.body);
    };
    const timer = setTimeout(() => finish(0), GIVE_UP);
    socket.on('data', take).on('close', ended).on('end', ended);
  });
}

function parseAnswer(text: string, ended = false): Omit<RawAnswer, 'after'> | undefined {
  const split = text.indexOf('\r\n\r\n');
  if (split < 0) return undefined;
  const [statusLine = '', ...lines] = text.slice(0, split).split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  const rest = text.slice(split + 4);
  if (status < 200) return parseAnswer(rest, ended);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const length = Number(headers.get('content-length') ?? Infinity);
  if (rest.length < length && !ended) return undefined;
  return { status, headers, body: Buffer.from(rest.slice(0, length), 'latin1').toString('utf8') };
}
