/** Builds HTML pages; all content is escaped, except markup created here. */
import { printable } from '../../model/text.ts';

export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

export type Content = string | number | Html | readonly Html[];

/** A template of markup; text in its placeholders is escaped, markup is not. */
export function html(parts: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return new Html(parts.map((part, index) => part + markupOf(contents[index] ?? '')).join(''));
}

/** Lines in a `pre` element. */
export function preformatted(lines: readonly string[]): Html {
  return new Html(`<pre>${lines.map(escaped).join('\n')}</pre>`);
}

/** A table. @param head the names of the columns; the first cell of a row is also a name. */
export function table(head: readonly string[], rows: readonly (readonly Content[])[]): Html {
  const row = ([first = '', ...rest]: readonly Content[]) =>
    html`<tr><th scope="row">${first}</th>${rest.map(tableCell)}</tr>\n`;
  return html`<div class="wide"><table>
<thead><tr>${head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>
${rows.map(row)}</tbody>
</table></div>`;
}

/** Text of several words may be broken into lines, but not a number and its unit. */
function tableCell(cell: Content): Html {
  return typeof cell === 'string' && / .* /.test(cell) ? html`<td class="words">${cell}</td>` : html`<td>${cell}</td>`;
}

/** A complete page as text, which is self-contained and may not load anything. */
export function pageText(title: string, body: Html): string {
  const { markup } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<h1>${title}</h1>
${body}
</body>
</html>
`;
  return markup;
}

/**
 * Plots have inline styles; nothing else is allowed, so that a page cannot load or run anything even if its content
 * tried to.
 */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const STYLE = `
:root { color-scheme: light dark; --line: #d1d9e0; --faint: #59636e; --bad: #b42318; --good: #1a7f37 }
@media (prefers-color-scheme: dark) { :root { --line: #3d444d; --faint: #9198a1; --bad: #ff7b72; --good: #3fb950 } }
body { max-width: 72rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif }
h1 { font-size: 1.5rem; overflow-wrap: anywhere }
h2 { font-size: 1.2rem; margin-top: 2rem }
h3 { font-size: 1rem; overflow-wrap: anywhere }
pre { padding: .75rem; border: 1px solid var(--line); border-radius: .4rem; white-space: pre-wrap; overflow-wrap: anywhere }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem }
dt { color: var(--faint) }
dd { margin: 0; overflow-wrap: anywhere }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
thead th { color: var(--faint); font-weight: normal; vertical-align: bottom }
tbody th, td { white-space: nowrap }
td.words { white-space: normal; min-width: 6rem }
td:last-child { white-space: normal; min-width: 6rem; overflow-wrap: anywhere }
p, ul, dl, pre { max-width: 60rem }
tbody th { font-weight: normal }
svg { max-width: 100%; height: auto; margin: .5rem 0 }
.bad { color: var(--bad) }
.good { color: var(--good) }
.faint { color: var(--faint) }
`;

function markupOf(content: Content): string {
  if (content instanceof Html) return content.markup;
  return Array.isArray(content) ? content.map(({ markup }) => markup).join('') : escaped(String(content));
}

function escaped(text: string): string {
  return printable(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
