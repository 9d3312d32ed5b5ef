import type { Dependency } from '../../engine/model/pull-request.ts';
import { isPullRequestNumber } from './pull-request-ref.ts';

const MAX_DEPENDENCIES = 20;
const MAX_URL = 2_000;

/**
 * The lines `Depends-On: #5, https://github.com/o/n/pull/6` of a body or a commit message. `own` is the page of the
 * pull request itself: addresses below the same repository become numbers. Anything else on such a line is ignored.
 */
// SPEC G174
export function dependenciesIn(text: string, own?: { readonly url: string }): readonly Dependency[] {
  const home = own && placeOf(own.url)?.repository.toLowerCase();
  const found = new Map<string, Dependency>();
  for (const [, value = ''] of text.matchAll(/^[ \t]*depends-on:(.*)$/gim)) {
    for (const word of value.split(/[\s,]+/)) {
      const dependency = parse(word, home);
      if (dependency !== undefined) found.set(JSON.stringify(dependency).toLowerCase(), dependency);
      if (found.size === MAX_DEPENDENCIES) return [...found.values()];
    }
  }
  return [...found.values()];
}

function parse(word: string, home: string | undefined): Dependency | undefined {
  const number = Number(/^#([1-9]\d{0,9})$/.exec(word)?.[1]);
  if (isPullRequestNumber(number)) return { number };
  const place = word.length > MAX_URL ? undefined : placeOf(word);
  if (place === undefined) return undefined;
  const isHome = place.repository.toLowerCase() === home;
  if (isHome && isPullRequestNumber(place.number)) return { number: place.number };
  const [, owner, name, ...more] = new URL(place.repository).pathname.split('/');
  return owner !== undefined && name !== undefined && more.length === 0 && !isHome ? { url: place.url } : undefined;
}

interface Place {
  /** The address of the repository. A forge may live below a path. */
  readonly repository: string;
  readonly number: number;
  readonly url: string;
}

/** Query and fragment do not count. GitHub spells `pull`, Gitea `pulls`. */
function placeOf(word: string): Place | undefined {
  if (!/^https?:\/\//i.test(word) || !URL.canParse(word)) return undefined;
  const { origin, pathname } = new URL(word);
  const [, path, kind, number] = /^(\/.+)\/(pulls?)\/([1-9]\d{0,9})$/.exec(pathname) ?? [];
  if (path === undefined || /\/(?:\/|$)/.test(path)) return undefined;
  return { repository: origin + path, number: Number(number), url: `${origin}${path}/${kind}/${number}` };
}
