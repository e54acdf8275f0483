/** Kind of an entry that has a secret. */
export type EntryKind = 'destination' | 'source';

/** The secret of each kind of entry. */
export const SECRETS = {
  destination: {
    name: 'Secret',
    /** What the secret is used for. */
    use: 'The receiver verifies the signature of each request with it.',
    /** What happens until the overlap of a rotation ends. */
    overlap:
      'Until the overlap ends, requests are signed with both secrets, so you can update the receiver at any time before then.',
    /** What a rotation means for the secret that an earlier rotation replaced. */
    earlier:
      'An earlier secret still signs too. Rotating again ends it at once: receivers that still use it refuse all requests.',
    /** What it means to end the overlap early. */
    end: 'From now on, requests are signed with the current secret alone: receivers that still use the previous one refuse them.',
    /** Name of a rotation in the API, of the new secret in its body, and of a generated one in its answer. */
    rotation: { action: 'rotate-secret', field: 'secret', answer: 'sharedSecret' },
  },
  source: {
    name: 'Write key',
    use: 'Clients of this source send it with their messages.',
    overlap:
      'Until the overlap ends, messages with either key are accepted, so you can update clients at any time before then.',
    earlier:
      'An earlier write key is still valid. Rotating again ends it at once: clients that still use it are refused.',
    end: 'From now on, the current write key alone is valid: clients that still use the previous one are refused.',
    rotation: { action: 'rotate-key', field: 'key', answer: 'writeKey' },
  },
} as const;
