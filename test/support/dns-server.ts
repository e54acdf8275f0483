import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import dns from 'node:dns';

/** Length of a message's header, in bytes. */
const HEADER = 12;

const TYPE_A = 1;
const TYPE_AAAA = 28;
const NXDOMAIN = 3;
const REFUSED = 5;

/** A response, recursion available. */
const RESPONSE = 0x8180;

/** An address, written in full, or all of them; `'silence'` where questions get no answer; a number is a failure's RCODE. */
type Answer = string | string[] | number;

/** A DNS server on loopback, for one test. It does not know a name unless `answers` has it. */
export class DnsServer {
  /** By name. A name with IPv4 addresses alone has no IPv6 ones. */
  readonly answers: Record<string, Answer | { ipv4: Answer; ipv6: Answer }> = {};
  /** The names it was asked for. */
  readonly asked: string[] = [];
  private readonly unanswered: (() => Promise<void>)[] = [];

  private constructor(
    private readonly socket: Socket,
    private readonly replaced: string[],
  ) {
    socket.on('message', (message, from) => this.answer(message, from));
  }

  /** Starts it as the server that this process asks. */
  static async start(): Promise<DnsServer> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    const server = new DnsServer(socket, dns.getServers());
    dns.setServers([server.address]);
    return server;
  }

  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  async stop(): Promise<void> {
    dns.setServers(this.replaced);
    // Or else the look-ups would hold up the end of the process.
    await Promise.all(this.unanswered.map((refuse) => refuse()));
    await new Promise<void>((resolve) => this.socket.close(() => resolve()));
  }

  private answer(question: Buffer, from: RemoteInfo): void {
    const labels: string[] = [];
    let at = HEADER;
    for (let length = question[at++]!; length > 0; length = question[at++]!) {
      labels.push(question.toString('latin1', at, at + length));
      at += length;
    }
    const type = question.readUInt16BE(at);
    const name = labels.join('.').toLowerCase();
    this.asked.push(name);
    const given = this.answers[name] ?? NXDOMAIN;
    const answer = isByFamily(given) ? given[type === TYPE_AAAA ? 'ipv6' : 'ipv4'] : given;
    const respond = (rcode: number, records: Buffer[]) => this.send(question.subarray(0, at + 4), rcode, records, from);
    if (answer === 'silence') this.unanswered.push(() => respond(REFUSED, []));
    else if (typeof answer === 'number') void respond(answer, []);
    else void respond(0, toRecords(answer, type));
  }

  private send(question: Buffer, rcode: number, records: Buffer[], to: RemoteInfo): Promise<void> {
    const header = Buffer.alloc(HEADER);
    question.copy(header, 0, 0, 2);
    header.writeUInt16BE(RESPONSE | rcode, 2);
    header.writeUInt16BE(1, 4); // questions
    header.writeUInt16BE(records.length, 6);
    const message = Buffer.concat([header, question.subarray(HEADER), ...records]);
    return new Promise((resolve) => this.socket.send(message, to.port, to.address, () => resolve()));
  }
}

function isByFamily<T extends object>(given: Answer | T): given is T {
  return typeof given === 'object' && !Array.isArray(given);
}

/** The addresses as records that point to the question's name; none where another type is asked for. */
function toRecords(addresses: string | string[], type: number): Buffer[] {
  return [addresses].flat().flatMap((address) => {
    const isIpv6 = address.includes(':');
    if (type !== (isIpv6 ? TYPE_AAAA : TYPE_A)) return [];
    const data = isIpv6 ? bytesOf(address) : address.split('.').map(Number);
    return [Buffer.from([0xc0, HEADER, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length, ...data])];
  });
}

/** The bytes of an IPv6 address. */
function bytesOf(address: string): number[] {
  const groups = address.split(':').map((group) => parseInt(group, 16));
  return groups.flatMap((group) => [group >> 8, group & 0xff]);
}
