import { isPlainObject } from '../../client/message/message.rules.js';

/** The `context` of a batch, which is merged into each message; a message's own members take precedence. */
export class SharedContext {
  private readonly members: [name: string, json: string][];
  private readonly json: string;
  /** Size of its JSON, in bytes. */
  readonly bytes: number;

  constructor(value: Record<string, unknown>) {
    this.members = membersOf(value);
    this.json = toJson(this.members);
    this.bytes = Buffer.byteLength(this.json);
  }

  /** Returns the merged context of a message as JSON; undefined if its own context is not an object. */
  mergeInto(own: unknown): string | undefined {
    if (own === undefined || own === null) return this.json;
    if (!isPlainObject(own)) return undefined;
    const others = this.members.filter(([name]) => !Object.hasOwn(own, name));
    return toJson([...membersOf(own), ...others]);
  }
}

/** Returns the members as JSON, without `__proto__`, which JSON.parse makes an ordinary member. */
function membersOf(value: Record<string, unknown>): [string, string][] {
  return Object.entries(value).flatMap(([name, member]) =>
    name === '__proto__' ? [] : [[name, `${JSON.stringify(name)}:${JSON.stringify(member)}`]],
  );
}

function toJson(members: [name: string, json: string][]): string {
  return `{${members.map(([, json]) => json).join(',')}}`;
}
