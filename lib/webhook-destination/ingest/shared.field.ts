/** An object that a batch lends to each of its messages, whose own members are stronger. */
export class SharedField {
  readonly value: Record<string, unknown>;
  readonly json: string;
  /** Where each member is in the JSON, with the comma or brace behind it. */
  private readonly spans = new Map<string, [start: number, end: number]>();

  constructor(value: Record<string, unknown>) {
    this.value = withoutProto(value);
    let json = '{';
    for (const [key, item] of Object.entries(this.value)) {
      const start = json.length;
      json += `${JSON.stringify(key)}:${JSON.stringify(item)},`;
      this.spans.set(key, [start, json.length]);
    }
    this.json = json.length > 1 ? `${json.slice(0, -1)}}` : '{}';
  }

  merge(own: Record<string, unknown>): Record<string, unknown> {
    return withoutProto({ ...this.value, ...own });
  }

  /**
   * JSON of the same members, made of text that is there: to write all of it for each of thousands of messages would
   * keep the process busy for seconds.
   */
  mergeJson(own: Record<string, unknown>): string {
    const ownJson = JSON.stringify(withoutProto(own));
    if (ownJson === '{}') return this.json;
    const replaced = Object.keys(own).flatMap((key) => {
      const span = this.spans.get(key);
      return span ? [span] : [];
    });
    let members = '';
    let kept = 1;
    for (const [start, end] of replaced.sort(([a], [b]) => a - b)) {
      members += this.json.slice(kept, start);
      kept = end;
    }
    members += this.json.slice(kept, -1);
    if (members === '') return ownJson;
    return `${ownJson.slice(0, -1)},${members.endsWith(',') ? members.slice(0, -1) : members}}`;
  }
}

/** A copy without an own `__proto__`, which JSON.parse makes of such a key. */
function withoutProto(value: Record<string, unknown>): Record<string, unknown> {
  const copy = { ...value };
  delete copy['__proto__'];
  return copy;
}
