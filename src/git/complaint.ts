/** Sentences for git's HTTP errors that tell the operator what to do. */
const HTTP_ANSWERS: readonly (readonly [RegExp, string])[] = [
  [
    /error: 401|Authentication failed|could not read (?:Username|Password)/i,
    'the server does not accept the token or other credentials that were sent',
  ],
  [/error: 403/, 'the token or user lacks the permission for this'],
  [/error: 404|^fatal: repository .* not found/, 'there is no such repository, or the token or user may not see it'],
  [/error: 30[1278]/, 'the repository has moved to another address'],
  [/^fatal: Could not read from remote repository/, 'Could not read from remote repository'],
];
const MAX_LENGTH = 300;

/** Git is never run with options that print the authorization header. If it is printed all the same, it is removed. */
// SPEC G3
export function sentenceOf(stderr: string, authorization?: string): string {
  const lines = withoutSecrets(stderr, authorization)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const line = lines.find((candidate) => candidate.startsWith('fatal: ')) ?? lines.at(-1) ?? 'it gave no reason';
  const explanation = HTTP_ANSWERS.find(([pattern]) => pattern.test(line))?.[1];
  const sentence = explanation === undefined ? line : [explanation, ...lastRemoteLine(lines)].join(' ');
  return withoutCredentials(sentence.replace(/^(fatal|error): /, '').replace(/ \(stored in [^)]*\)/, ''))
    .replace(/[\p{Cc}]/gu, ' ')
    .slice(0, MAX_LENGTH)
    .replace(/\.$/, '');
}

/** True when the name, the token or a permission may have changed. */
export function isAccessProblem(detail: string): boolean {
  return HTTP_ANSWERS.some(([, sentence]) => detail.includes(sentence));
}

function lastRemoteLine(lines: readonly string[]): readonly string[] {
  const remark = lines.findLast((line) => /^remote: \S/.test(line));
  return remark === undefined ? [] : [`(${remark.slice('remote: '.length).replace(/\.$/, '')})`];
}

export function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/\s]*@/g, '//').replace(/\b(Basic|Bearer|token) +(?=\S*\d)[\w+/=.~-]{8,}/gi, '$1 ***');
}

/** Removes the header in all its forms. A shorter secret could be part of an ordinary word. */
// SPEC G2
function withoutSecrets(text: string, authorization = ''): string {
  const [, credentials = ''] = authorization.split(' ');
  const decoded = Buffer.from(credentials, 'base64').toString();
  const secrets = [authorization, credentials, decoded, decoded.slice(decoded.indexOf(':') + 1)];
  return secrets.filter(({ length }) => length >= 4).reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}
