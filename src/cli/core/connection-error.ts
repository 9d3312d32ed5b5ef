/** `fetch` wraps what happened, sometimes twice: the innermost code says most. */
function codeOf(error: unknown): string {
  const { cause, code, message } = error as { cause?: unknown; code?: unknown; message?: string };
  if (cause !== undefined && cause !== null) return codeOf(cause);
  return typeof code === 'string' ? code : (message ?? '');
}

export function isReset(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(codeOf(error));
}

export function isTimeout(error: unknown): boolean {
  if ((error as { name?: string }).name === 'TimeoutError') return true;
  return /^(?:UND_ERR_\w+_TIMEOUT|ETIMEDOUT)$/.test(codeOf(error));
}

export function describeConnectionError(error: unknown, url: string, timeoutMs: number): string {
  if (isTimeout(error))
    return `The server at ${url} did not answer within ${timeoutMs / 1000} s. Look at its log, or try again.`;
  if (isReset(error))
    return `The server at ${url} closed the connection before it answered. Look at its log, or try again.`;
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return `No server answers at ${url}. Start one with \`npm start\` or set SLUICE_URL.`;
  if (code === 'bad port')
    return `Port ${new URL(url).port} belongs to another protocol, and fetch never asks there. Let the server listen on another one.`;
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
