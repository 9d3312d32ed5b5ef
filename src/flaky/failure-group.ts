import { isFrame, topFrames } from './stack-frames.ts';

/** A failure as the report describes it; any part may be empty. */
export interface FailureText {
  readonly type: string;
  readonly message: string;
  /** Usually the stack trace, often with the message before it. */
  readonly text: string;
}

interface FailureGroup {
  /** Equal for the same way of failing, on every machine and in every run. */
  readonly key: string;
  /** One line for people. */
  readonly summary: string;
}

const MAX_SUMMARY_LENGTH = 200;
/** The beginning and the end of a longer text suffice: the error and its place. */
const MAX_READ_LENGTH = 16_000;
const MESSAGE_LINES = 3;
const MAX_MESSAGE_LENGTH = 1_000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals write them
const ANSI = /\u001b\[[0-9;?]{0,32}[A-Za-z]/g;

/** Removes colours and secrets. Every stored failure passes through here first. */
export function cleanFailure({ type, message, text }: FailureText): FailureText {
  const clean = (part: string) => maskSecrets(part.replace(ANSI, ''));
  return { type: clean(type), message: clean(message), text: clean(text) };
}

/** Expects a failure from `cleanFailure`. */
// SPEC F18
export function groupFailure(failure: FailureText): FailureGroup {
  const type = shortType(failure.type);
  const text = ends(failure.text);
  const message = messageOf(failure.message, text);
  const frames = topFrames(text === '' ? ends(failure.message) : text);
  const key = hash([type, normalise(message.slice(0, MAX_MESSAGE_LENGTH)), ...frames].join('\n'));
  return { key, summary: summaryOf(type, message) };
}

/** The first lines that are no stack frames: of the message, else of the text. */
function messageOf(message: string, text: string): string {
  const lines = telling(message.slice(0, MAX_READ_LENGTH));
  return (lines.length > 0 ? lines : telling(text)).join('\n');
}

/** Go writes the place of a message before it. */
const GO_PLACE = /^[^\s:]{1,300}\.go:\d+: /;

function telling(text: string): readonly string[] {
  const found: string[] = [];
  for (const raw of text.split('\n')) {
    const line = raw.trim().replace(GO_PLACE, '');
    if (/[\p{L}\p{N}]/u.test(line) && !isTraceHeading(line) && !isFrame(line)) found.push(line);
    if (found.length === MESSAGE_LINES) break;
  }
  return found;
}

function isTraceHeading(line: string): boolean {
  return /^(?:Traceback \(most recent call last\):?|stack backtrace:|goroutine \d+ \[.{0,60}\]:|Stack ?trace:|Error Trace:.{0,400}|---.{0,80}---)$/i.test(
    line,
  );
}

// SPEC F19
function summaryOf(type: string, message: string): string {
  const line = (message.split('\n')[0] ?? '').replace(/\s+/g, ' ').trim();
  const said = type === '' || line.toLowerCase().includes(type.toLowerCase()) ? line : `${type}: ${line}`;
  const summary = said.replace(/: $/, '') || 'Failed without a message';
  return shorten(summary, MAX_SUMMARY_LENGTH);
}

/** Never splits a surrogate pair. */
export function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

function shortType(type: string): string {
  return (
    type
      .trim()
      .split(/\.|\\|::/)
      .at(-1) ?? ''
  ).slice(0, 100);
}

function ends(text: string): string {
  if (text.length <= MAX_READ_LENGTH) return text;
  return `${text.slice(0, MAX_READ_LENGTH / 2)}\n${text.slice(-MAX_READ_LENGTH / 2)}`;
}

/** 64 bits, from two hashes: a test has few groups, and two of them must not collide by accident. */
function hash(text: string): string {
  const words = [0x811c9dc5, 0x9e3779b9];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    words[0] = Math.imul((words[0] as number) ^ code, 0x01000193);
    words[1] = Math.imul((words[1] as number) ^ (code + index), 0x85ebca6b) ^ ((words[1] as number) >>> 13);
  }
  return words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** A line number in a file. The file's extension tells it from a port of a host. */
const SOURCE_LINE =
  /(\.(?:[cm]?[jt]sx?|vue|svelte|py|java|kts?|scala|groovy|go|rb|rs|cs|fs|vb|php|cc?|cpp|cxx|hh?|hpp|swift|mm?|exs?|erl|clj|dart|lua|pl|sh|feature))(?:\(\d+(?:,\d+)?\)|:\d+(?::\d+)?)/g;

const RULES: readonly (readonly [RegExp, string])[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals write them
  [/\u001b\[[0-9;?]{0,32}[A-Za-z]/g, ''],
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?/g, '<time>'],
  [
    /\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? \w{1,9} \w{1,9}(?: \d{4})?,? \d\d:\d\d:\d\d(?: (?:GMT|UTC|[+-]\d{4}|\d{4}))?/g,
    '<time>',
  ],
  [/\b\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?/g, '<time>'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, '<uuid>'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b/g, '<ip>'],
  [/\[?(?:[0-9a-f]{1,4}:){4,7}[0-9a-f]{1,4}\]?(?::\d{1,5})?/gi, '<ip>'],
  [SOURCE_LINE, '$1'],
  [/\b(localhost|[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}):\d{2,5}\b/g, '$1:<port>'],
  [/\b0x[0-9a-f]+\b/gi, '<hex>'],
  [/@[0-9a-f]{5,16}\b/gi, '@<hex>'],
  [/\b(?=[0-9a-f]{0,64}\d)(?=[0-9a-f]{0,64}[a-f])[0-9a-f]{7,128}\b/gi, '<hex>'],
  // Keeps the file's name of a path, not the machine's folders.
  [/(?<![\w<])(?:file:\/\/)?(?:[A-Za-z]:)?(?:[\\/][\w.@+~-]{1,100}){1,40}[\\/]([\w.@+~-]{1,100})/g, '<path>/$1'],
  [/(?<![\w./\\<])(?:\.{1,2}[\\/])?(?:[\w.@+-]{1,100}[\\/]){1,40}([\w@+-]{1,100}\.[A-Za-z]{1,5}\b)/g, '<path>/$1'],
  [/\bline \d+/gi, 'line <n>'],
  [/\b\d+(?:[.,]\d+)? ?(?:ns|us|µs|ms|millis(?:econd)?s?|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b/g, '<duration>'],
  // Names generated for one run: tmp.Xa83kd, pytest-of-root-12, junit8273645.
  [/\b((?:tmp|temp)[._-]?)(?=[\w-]{0,40}[\dA-Z])[\w-]{4,40}/g, '$1<name>'],
  [/(?<![\w.])[-+]?\d+(?:[.,_]\d+)*(?:e[-+]?\d+)?%?(?!\w)/gi, '<n>'],
  [/\d{3,}/g, '<n>'],
  [/\s+/g, ' '],
];

/** Replaces the parts of a message that differ from run to run, so that the same failure reads the same. */
export function normalise(text: string): string {
  return RULES.reduce((normal, [pattern, placeholder]) => normal.replace(pattern, placeholder), text).trim();
}

/**
 * Masks likely secrets in a text before it is stored. Every pattern is anchored or bounded, so that hostile text is
 * read in linear time.
 */
const MASK = '***';

const PRIVATE_KEY = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,60}-----|$)/g;

/** Tokens with a prefix that names their issuer. */
const TOKENS: readonly RegExp[] = [
  // JSON web tokens.
  /(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  // AWS.
  /(?<![A-Za-z0-9])(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  // GitHub, GitLab, npm, PyPI, Slack, Stripe, Google, OpenAI and alike, SendGrid, Docker Hub, Sluice.
  /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|gl[a-z]{2,6}-[\w-]{20,}|npm_[A-Za-z0-9]{30,})/g,
  /(?<![A-Za-z0-9])(?:pypi-[\w-]{40,}|xox[abeprs]-[\w-]{10,}|[rs]k_(?:live|test)_\w{10,}|AIza[\w-]{30,})/g,
  /(?<![A-Za-z0-9])(?:ya29\.[\w-]{20,}|sk-[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}|dckr_pat_[\w-]{20,}|slc_[\w-]{20,})/g,
  /(?<=hooks\.slack\.com\/services\/)[\w/]{10,}/g,
];

const URL_PASSWORD = /(?<=:\/\/)[^\s/:@"'<>]{0,200}:[^\s/@"'<>]{1,500}@/g;
const AUTHORIZATION =
  /\b((?:proxy-)?authorization|x-api-key|x-api-token|x-auth-token|cookie|set-cookie)(["']?\s{0,4}[:=]\s{0,4}["']?)((?:basic|bearer|token|digest)\s{1,4})?[^\s"',;]{4,}/gi;
const BEARER = /\b(bearer\s{1,4})[\w.~+/=-]{12,}/gi;
const NAMED =
  /(?<![\w.-])([\w.-]{0,40}?(?:password|passwd|passphrase|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|credentials?)[\w-]{0,20})(["']?\s{0,4}[=:]\s{0,4})(["']?)([^\s"'&,;)\]}]{4,})/gi;

const HARMLESS = /^(?:undefined|null|none|nil|true|false|\*+|<[^>]*>)$/i;

// SPEC F20
export function maskSecrets(text: string): string {
  let masked = text.replace(PRIVATE_KEY, `-----BEGIN PRIVATE KEY-----${MASK}`);
  for (const token of TOKENS) masked = masked.replace(token, MASK);
  return masked
    .replace(URL_PASSWORD, `${MASK}@`)
    .replace(AUTHORIZATION, (_all, name: string, sign: string, scheme = '') => `${name}${sign}${scheme}${MASK}`)
    .replace(BEARER, `$1${MASK}`)
    .replace(NAMED, maskNamed);
}

/** "Unexpected token: foo" names no secret: after a colon, without quotes, the value must look like one. */
function maskNamed(all: string, name: string, sign: string, quote: string, value: string): string {
  if (HARMLESS.test(value)) return all;
  const isSaidPlainly = sign.includes('=') || quote !== '' || /pass|pwd/i.test(name);
  const looksSecret = value.length >= 8 && /\d/.test(value) && /[A-Za-z]/.test(value);
  return isSaidPlainly || looksSecret ? `${name}${sign}${quote}${MASK}` : all;
}
