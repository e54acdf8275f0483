/** A customer of the application, with its own source of events. */
export interface Account {
  name: string;
  writeKey: string;
}

export interface Person {
  email: string;
  password: string;
  account: Account;
}

const acme: Account = { name: 'acme', writeKey: 'wk_acme' };
const globex: Account = { name: 'globex', writeKey: 'wk_globex' };

export const ACCOUNTS = [acme, globex];

/** A real application has a database and hashes of passwords. */
export const PEOPLE: Person[] = [
  { email: 'ada@acme.example', password: 'acme', account: acme },
  { email: 'gus@globex.example', password: 'globex', account: globex },
];
