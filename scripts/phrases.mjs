/** What no sentence should contain: habits of translated prose, and second names of things that have one. */
const PHRASES = [
  'in vain',
  'whoever',
  'whatever becomes of',
  'tells? of',
  '(is|was|are|were) told of',
  'is none of',
  'says nothing (of|about)',
  'tells? nothing (of|about)',
  'in a way that may pass',
  'fail(s|ed|ing)? for good',
  'for good and all',
  'runs? out on (its|their) own',
  'a disk that stays',
  '(is|are) away',
  'took (an|the) attempt',
  'taken so by',
  'wait(s)? for nothing',
  'can tell',
  'has something to finish',
  'in a moment',
  'by force',
  '(is|are) stronger',
  'puts? off',
  '(gives?|given) back',
  'for dead',
  'lends?',
  'lent',
  'patience',
  'starved',
];

const phrase = new RegExp(`\\b(${PHRASES.join('|')})\\b`, 'i');

/** Returns the first such phrase of a text, whose lines may begin as those of a comment; undefined if it has none. */
export function findPhrase(text) {
  return phrase.exec(text.replace(/\s+(\* )?\s*/g, ' '))?.[0];
}
