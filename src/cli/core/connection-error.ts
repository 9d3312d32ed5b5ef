import { TimeoutError } from './exchange.ts';

/** Several addresses of a host fail together, as one error that holds theirs: the first one says most. */
function codeOf(error: unknown): string {
  const { errors, code, message } = error as { errors?: readonly unknown[]; code?: unknown; message?: string };
  if (errors?.[0] !== undefined) return codeOf(errors[0]);
  return typeof code === 'string' ? code : (message ?? '');
}

export function isReset(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes(codeOf(error));
}

export function isTimeout(error: unknown): boolean {
  return error instanceof TimeoutError || codeOf(error) === 'ETIMEDOUT';
}

export function describeConnectionError(error: unknown, url: string, timeoutMs: number): string {
  if (isTimeout(error))
    return `The server at ${url} did not answer within ${timeoutMs / 1000} s. Look at its log, or try again.`;
  if (isReset(error))
    return `The server at ${url} closed the connection before it answered. Look at its log, or try again.`;
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return `No server answers at ${url}. Start one with \`npm start\` or set SLUICE_URL.`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return `The host of ${url} is not known here (${code}). Check SLUICE_URL or --url, and the network.`;
  }
  if (/CERT|SELF_SIGNED|ISSUER/.test(code)) {
    return `The certificate of ${url} is not trusted here (${code}). Set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority.`;
  }
  if (/SSL|EPROTO/.test(code))
    return `${url} does not speak TLS as it should (${code}). Is it http:// instead of https://?`;
  return `No server answers at ${url} (${code || String(error)}). Check SLUICE_URL or --url, and the network.`;
}
