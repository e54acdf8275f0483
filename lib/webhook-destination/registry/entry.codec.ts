import { createHash } from 'node:crypto';

import { VERSION } from '../../client/version.js';
import type { DeliveryOptions } from '../dispatch/delivery.options.js';
import type { RegistryKind } from '../queue/registry-store.interface.js';
import { type DocumentCipher, unreadable } from './document.cipher.js';
import type { AnyDocument } from './entry.document.js';

/** Layout version of documents. A later layout may have fields that an older version must not ignore. */
const LAYOUT = 1;

/** Converts documents to and from their stored form: JSON, encrypted if there is a secret. */
export class EntryCodec {
  /** Identifies the rules of this process. A document checked by the same rules is not checked again. */
  private readonly rules: string;

  constructor(
    private readonly cipher: DocumentCipher,
    { allowedNetworks, deniedNetworks, httpsOnly }: DeliveryOptions,
  ) {
    const rules = JSON.stringify([VERSION, allowedNetworks, deniedNetworks, httpsOnly]);
    this.rules = createHash('sha256').update(rules).digest('base64').slice(0, 8);
  }

  /** @param isValid whether the document passes the rules of this process */
  encode(kind: RegistryKind, document: AnyDocument, isValid = true): string {
    const json = JSON.stringify({ ...document, layout: LAYOUT, rules: isValid ? this.rules : document.rules });
    return this.cipher.encrypt({ kind, name: document.options.name }, json);
  }

  /** @throws {RelayError} `registry_unreadable` */
  decode(kind: RegistryKind, name: string, text: string): AnyDocument {
    const json = this.cipher.decrypt({ kind, name }, text);
    let document: Partial<AnyDocument> | null;
    try {
      document = JSON.parse(json) as Partial<AnyDocument> | null;
    } catch {
      throw unreadable('it is not JSON'); // the parser's message would quote the document
    }
    if (document?.options?.name !== name) throw unreadable('it belongs to another entry');
    const { layout = LAYOUT } = document;
    if (layout > LAYOUT) throw unreadable(`it has layout ${layout}, written by a later version`);
    return document as AnyDocument;
  }

  /** Returns whether the document was checked by the rules of this process. */
  isChecked({ rules }: AnyDocument): boolean {
    return rules === this.rules;
  }

  /** Returns whether the document is stored in its current form. */
  isCurrent(text: string, document: AnyDocument): boolean {
    return this.cipher.isCurrent(text) && this.isChecked(document);
  }
}
