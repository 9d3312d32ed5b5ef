import { hash } from 'node:crypto';

/** The namespace of URLs (RFC 9562): the uploader uses it for every text. */
const NAMESPACE = Buffer.from('6ba7b8119dad11d180b400c04fd430c8', 'hex');

export function uuidV5(text: string): string {
  const hex = hash('sha1', Buffer.concat([NAMESPACE, Buffer.from(text)]), 'hex');
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
