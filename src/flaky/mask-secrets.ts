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
