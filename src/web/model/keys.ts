/** The keys of the dashboard. Two letters are pressed one after the other. */
export const KEYS = {
  '/': ['search', 'Search pull requests, queues and tests'],
  'g q': ['queue', 'Go to the queue'],
  'g t': ['tests', 'Go to the tests'],
  'g h': ['home', 'Go to all queues'],
  j: ['next', 'Next in the list'],
  k: ['previous', 'Previous in the list'],
  '?': ['help', 'Show these keys'],
} as const;
export type KeyAct = (typeof KEYS)[keyof typeof KEYS][0];

export interface Press {
  readonly key: string;
  readonly at: number;
  /** With Ctrl, Alt or Meta it belongs to the browser. */
  readonly isModified: boolean;
}

/** The second of two letters must follow within this time. */
const PAIR_MS = 1_500;

/** Reads keys as they are pressed, and returns what they ask for. */
export class KeyReader {
  #first: Press | undefined;

  press(press: Press): KeyAct | undefined {
    const first = this.#first;
    this.#first = undefined;
    if (press.isModified) return undefined;
    const isSecond = first !== undefined && press.at - first.at <= PAIR_MS;
    const keys = isSecond ? `${first.key} ${press.key}` : press.key;
    if (!isSecond && isFirst(press.key)) this.#first = press;
    return Object.hasOwn(KEYS, keys) ? KEYS[keys as keyof typeof KEYS][0] : undefined;
  }
}

function isFirst(key: string): boolean {
  return Object.keys(KEYS).some((keys) => keys.startsWith(`${key} `));
}

interface Field {
  readonly tagName: string;
  readonly type?: string;
  readonly isContentEditable?: boolean;
}

const NO_TEXT = new Set(['button', 'checkbox', 'radio', 'submit', 'reset', 'range', 'color', 'file']);

/** Letters that are pressed in it are text. */
export function takesText({ tagName, type = 'text', isContentEditable = false }: Field): boolean {
  if (tagName === 'INPUT') return !NO_TEXT.has(type);
  return isContentEditable || tagName === 'TEXTAREA' || tagName === 'SELECT';
}

/**
 * The item that is next in a list, by the upper edges of its items in the window. Without a present one, it is the first
 * that can be seen.
 */
export function nextItem(tops: readonly number[], present: number, step: 1 | -1): number | undefined {
  if (tops.length === 0) return undefined;
  if (present !== -1) return Math.min(tops.length - 1, Math.max(0, present + step));
  const inView = tops.findIndex((top) => top >= 0);
  return inView === -1 ? tops.length - 1 : inView;
}
