import { createHash } from 'node:crypto';

import { VERSION } from '../../client/version.js';
import type { DeliveryOptions } from '../dispatch/delivery.options.js';
import type { RegistryKind } from '../queue/registry-store.interface.js';
import { type DocumentCipher, unreadable } from './document.cipher.js';
import type { AnyDocument } from './entry.document.js';

/** The layout of documents. A newer one may have fields that say what an older version must not ignore. */
const LAYOUT = 1;

/** Documents as the store keeps them: JSON, encrypted where there is a secret. */
export class EntryCodec {
  /** Names the rules that entries are checked by here. One that was checked by the same needs no other check. */
  private readonly rules: string;

  constructor(
    private readonly cipher: DocumentCipher,
    { allowedNetworks, deniedNetworks, httpsOnly }: DeliveryOptions,
  ) {
    const rules = JSON.stringify([VERSION, allowedNetworks, deniedNetworks, httpsOnly]);
    this.rules = createHash('sha256').update(rules).digest('base64').slice(0, 8);
  }

  /** @param document one that breaks no rule */
  encode(kind: RegistryKind, document: AnyDocument): string {
    const json = JSON.stringify({ ...document, layout: LAYOUT, rules: this.rules });
    return this.cipher.encrypt({ kind, name: document.options.name }, json);
  }

  /** @throws {RelayError} `registry_unreadable` */
  decode(kind: RegistryKind, name: string, text: string): AnyDocument {
    const json = this.cipher.decrypt({ kind, name }, text);
    let document: Partial<AnyDocument> | null;
    try {
      document = JSON.parse(json) as Partial<AnyDocument> | null;
    } catch {
      throw unreadable('it is not JSON'); // the parser's message would quote it
    }
    if (document?.options?.name !== name) throw unreadable('it is that of another entry');
    const { layout = LAYOUT } = document;
    if (layout > LAYOUT) throw unreadable(`it has layout ${layout}, from a later version`);
    return document as AnyDocument;
  }

  /** Whether it breaks no rule, as it was checked by the same. */
  isChecked({ rules }: AnyDocument): boolean {
    return rules === this.rules;
  }

  /** Whether it would be stored in this form today. */
  isCurrent(text: string, document: AnyDocument): boolean {
    return this.cipher.isCurrent(text) && this.isChecked(document);
  }
}
