import { en, type Words } from './en.js';

/** The languages of the portal, by their code. */
const LANGUAGES: Record<string, Words> = { en };

/** The first language of the browser that the portal knows, with its region, so times are written as there. */
export const locale = navigator.languages.find((name) => codeOf(name) in LANGUAGES) ?? 'en';

/** Every text that the portal shows, apart from values. */
export const words: Words = LANGUAGES[codeOf(locale)]!;

function codeOf(language: string): string {
  return language.toLowerCase().split('-')[0]!;
}
