/** Where a member of a lent object is in its JSON, with the comma or brace behind it. */
interface Member {
  start: number;
  end: number;
  /** Size of it in bytes. */
  size: number;
}

/**
 * An object that a batch lends to each of its messages, whose own members are stronger. What is asked for a message
 * must not take longer for a larger object: thousands of messages ask for it.
 */
export class SharedField {
  readonly value: Record<string, unknown>;
  readonly json: string;
  /** Bytes of its JSON. */
  readonly size: number;
  private readonly members = new Map<string, Member>();

  constructor(value: Record<string, unknown>) {
    this.value = withoutProto(value);
    let json = '{';
    for (const [key, item] of Object.entries(this.value)) {
      const text = `${JSON.stringify(key)}:${JSON.stringify(item)},`;
      const start = json.length;
      json += text;
      this.members.set(key, { start, end: json.length, size: Buffer.byteLength(text) });
    }
    this.json = json.length > 1 ? `${json.slice(0, -1)}}` : '{}';
    this.size = Buffer.byteLength(this.json);
  }

  /** Bytes of what {@link mergeJson} makes. */
  mergedSize(own: Record<string, unknown>): number {
    let size = sizeOfMembers(this.size) + sizeOfMembers(Buffer.byteLength(JSON.stringify(withoutProto(own))));
    for (const member of this.replacedBy(own)) size -= member.size;
    return Math.max(1 + size, 2);
  }

  /** JSON of the same members, made of text that is there. */
  mergeJson(own: Record<string, unknown>): string {
    const ownJson = JSON.stringify(withoutProto(own));
    if (ownJson === '{}') return this.json;
    let members = '';
    let kept = 1;
    for (const { start, end } of this.replacedBy(own).sort((a, b) => a.start - b.start)) {
      members += this.json.slice(kept, start);
      kept = end;
    }
    members += this.json.slice(kept, -1);
    if (members === '') return ownJson;
    return `${ownJson.slice(0, -1)},${members.endsWith(',') ? members.slice(0, -1) : members}}`;
  }

  private replacedBy(own: Record<string, unknown>): Member[] {
    return Object.keys(own).flatMap((key) => this.members.get(key) ?? []);
  }
}

/** Bytes of an object's members, each with the comma or brace behind it. */
function sizeOfMembers(size: number): number {
  return size > '{}'.length ? size - 1 : 0;
}

/** The object without an own `__proto__`, which JSON.parse makes of such a key. */
function withoutProto(value: Record<string, unknown>): Record<string, unknown> {
  if (!Object.hasOwn(value, '__proto__')) return value;
  const copy = { ...value };
  delete copy['__proto__'];
  return copy;
}
