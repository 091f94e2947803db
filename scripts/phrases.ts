// SPDX-License-Identifier: Apache-2.0
/** Phrases that are hard to read, and the words to use instead. */

export interface Phrase {
  /** A space stands for the space between two words, also at a line break. */
  readonly pattern: RegExp;
  readonly write: string;
  /**
   * `anywhere`: not even in code. `text`: not in documents and strings; in comments, tests and notes the number of these
   * phrases may only fall.
   */
  readonly where: 'anywhere' | 'text';
}

export const PHRASES: readonly Phrase[] = [
  { pattern: /[Aa]new/, write: 'write again, a new …', where: 'anywhere' },
  // After `user`, it is the user of that name.
  {
    pattern: /(?<!user )[Nn]obody/,
    write: 'write no peer, no process or no other user',
    where: 'anywhere',
  },
  { pattern: /[Ww]hoever/, write: 'write the caller, any peer, the user who …', where: 'anywhere' },
  {
    pattern: /(?:[Ii]s|[Aa]re|[Ww]as) told/,
    write: 'use an active verb: the agent reports …, the peer receives …',
    where: 'anywhere',
  },
  {
    pattern: /[Ss]ays? nothing/,
    write: 'write reports nothing, does not mention …, is silent',
    where: 'anywhere',
  },
  { pattern: /[Ww]ithout a word/, write: 'write without a report, without a message', where: 'anywhere' },
  { pattern: /[Tt]hose who/, write: 'name them: peers that …, users who …', where: 'anywhere' },
  { pattern: /[Ff]olders?/, write: 'write directory', where: 'text' },
  { pattern: /[Dd]iallers?/, write: 'write dialer', where: 'anywhere' },
  { pattern: /\w+_MOST/, write: 'write …_MAX', where: 'anywhere' },
  {
    pattern:
      /(?<!\b[Tt]here )(?:[Ii]s|[Aa]re|[Ww]as|[Ww]ere) no (?!longer|more|less|fewer|later|better|different|one)\w+/,
    write: 'write is not a …, has no …',
    where: 'text',
  },
  {
    pattern:
      /(?<!(?:left|leaves?|leaving|falls?|fell|lags?)(?: \w+){0,2} )[Bb]ehind(?!:| (?:(?:a|an|the|one|another|its) )?(?:NAT|firewalls?|proxy|proxies|jump hosts?|bastion))/,
    write: 'write after, following, on the other side of',
    where: 'text',
  },
  { pattern: /[Ss]tands?(?! (?:for|in for))/, write: 'write is, appears, goes', where: 'text' },
  { pattern: /[Aa]ll the same/, write: 'write anyway', where: 'text' },
  { pattern: /[Mm]end(?:s|ed|ing)?/, write: 'write fix', where: 'text' },
  { pattern: /[Ii]n clear(?! (?:text|words|terms))/, write: 'write unencrypted', where: 'text' },
  {
    pattern:
      /\b(?:[Aa]|[Ee]very|[Ee]ach|first|next|last|fastest|no) way (?:that|which|between|over|fails?|failed)|[Ww]ays? (?:between|by which|over|from)|[Oo]f (?:all|the|these|both) ways/,
    write: 'write path, route, method',
    where: 'text',
  },
  {
    pattern: /(?:[Gg]o|[Gg]oes|[Ww]ent|gone) on(?! (?:a|an|the|its|one|standard|std\w+|descriptor)\b)/,
    write: 'write continues, resumes',
    where: 'text',
  },
  {
    pattern:
      /(?<=\w['"`)]?,) too(?! (?:many|few|long|large|big|small|short|late|early|much|little|far|old|new|slow|fast|deep|high|low|wide|often|soon)\b)/,
    write: 'write also, before the verb',
    where: 'text',
  },
  { pattern: /[Ss]ome \d[\d,.]*/, write: 'write about', where: 'text' },
  { pattern: /[Bb]eside/, write: 'write next to, besides, compared with', where: 'text' },
  {
    pattern: /(?<!(?:let|leave|leaves|left|stands?) )alone(?=[.;:,)'"`]|$)/m,
    write: 'write only, before the noun; or on its own',
    where: 'text',
  },
  { pattern: /[Aa]t hand/, write: 'write current, present', where: 'text' },
  {
    pattern: /(?<!(?:\w(?:ed|en)|read|run|set|known|shown|made) )[Bb]y `?(?:sudo|ssh)(?!['’]s| itself)/,
    write: 'write with sudo, over ssh',
    where: 'text',
  },
  { pattern: /[Ww]ithout more/, write: 'write without further …', where: 'text' },
];
