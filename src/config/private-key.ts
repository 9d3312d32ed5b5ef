import { createPrivateKey } from 'node:crypto';

export const KEY_SENTENCE = 'must be the private key of the App: the PEM text that GitHub gave, or all of it in base64';

/** The key in the one form that all libraries read; undefined where it is no RSA key, or locked by a passphrase. */
export function parsePrivateKey(text: string): string | undefined {
  const pem = text.includes('-----BEGIN') ? text : Buffer.from(text, 'base64').toString('latin1');
  try {
    // Files of variables and CI settings keep a key on one line, with \n for its breaks.
    const key = createPrivateKey(pem.replaceAll('\\n', '\n').trim());
    return key.asymmetricKeyType === 'rsa' ? key.export({ type: 'pkcs8', format: 'pem' }).toString() : undefined;
  } catch {
    return undefined;
  }
}
