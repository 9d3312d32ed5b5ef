/** What git says of answers over HTTP, in words that tell what to do. */
const HTTP_ANSWERS: readonly (readonly [RegExp, string])[] = [
  [
    /error: 401|Authentication failed|could not read (?:Username|Password)/i,
    'the server does not accept the token or other credentials that were sent',
  ],
  [/error: 403/, 'the token or user lacks the permission for this'],
  [/error: 404|^fatal: repository .* not found/, 'there is no such repository, or the token or user may not see it'],
  [/error: 30[1278]/, 'the repository has moved to another address'],
];
const MAX_LENGTH = 300;

/**
 * The line of git's complaint that says why, without what a URL may carry before its host. Git is asked for nothing that
 * shows the header it was given. Should it, or the server, show it all the same, nobody is told.
 */
export function sentenceOf(stderr: string, authorization?: string): string {
  const lines = withoutSecrets(stderr, authorization)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const line = lines.find((candidate) => candidate.startsWith('fatal: ')) ?? lines.at(-1) ?? 'it gave no reason';
  const explanation = HTTP_ANSWERS.find(([pattern]) => pattern.test(line))?.[1];
  const sentence = explanation === undefined ? line : [explanation, ...remarkOf(lines)].join(' ');
  return withoutCredentials(sentence.replace(/^(fatal|error): /, '').replace(/ \(stored in [^)]*\)/, ''))
    .replace(/[\p{Cc}]/gu, ' ')
    .slice(0, MAX_LENGTH)
    .replace(/\.$/, '');
}

/** Whether a sentence says that names, tokens or permissions may have changed since they were learned. */
export function isAccessProblem(detail: string): boolean {
  return HTTP_ANSWERS.some(([, sentence]) => detail.includes(sentence));
}

/** The last word of the server itself. */
function remarkOf(lines: readonly string[]): readonly string[] {
  const remark = lines.findLast((line) => /^remote: \S/.test(line));
  return remark === undefined ? [] : [`(${remark.slice('remote: '.length).replace(/\.$/, '')})`];
}

export function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/\s]*@/g, '//').replace(/\b(Basic|Bearer|token) +(?=\S*\d)[\w+/=.~-]{8,}/gi, '$1 ***');
}

/** The header in all its forms; anything shorter would be found in words. */
function withoutSecrets(text: string, authorization = ''): string {
  const [, credentials = ''] = authorization.split(' ');
  const decoded = Buffer.from(credentials, 'base64').toString();
  const secrets = [authorization, credentials, decoded, decoded.slice(decoded.indexOf(':') + 1)];
  return secrets.filter(({ length }) => length >= 4).reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}
