import { randomBytes } from 'node:crypto';

import { Injectable } from '@nestjs/common';

import { PEOPLE, type Person } from './accounts.js';

/** The application's own sign-in: sessions in memory, by the value of a cookie. */
@Injectable()
export class SessionsService {
  private readonly people = new Map<string, Person>();

  /** Returns the value of the cookie; undefined for a wrong password. */
  start(email: unknown, password: unknown): string | undefined {
    const person = PEOPLE.find((one) => one.email === email && one.password === password);
    if (!person) return undefined;
    const id = randomBytes(24).toString('base64url');
    this.people.set(id, person);
    return id;
  }

  find(cookies: string | undefined): Person | undefined {
    return this.people.get(idIn(cookies));
  }

  end(cookies: string | undefined): void {
    this.people.delete(idIn(cookies));
  }
}

function idIn(cookies = ''): string {
  return /(?:^|; )session=([\w-]+)/.exec(cookies)?.[1] ?? '';
}
