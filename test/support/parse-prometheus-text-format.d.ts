declare module 'parse-prometheus-text-format' {
  /** Reads a text of Prometheus. */
  export default function parse(text: string): unknown;
}
