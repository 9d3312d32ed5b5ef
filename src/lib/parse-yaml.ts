import { parseDocument } from 'yaml';

/** Of a configuration in a repository. */
export const MAX_YAML_BYTES = 64 * 1024;

/** A file without targets may use some. */
export const MAX_ALIASES = 100;

export function parseYaml(bytes: Buffer, maxAliasCount: number): unknown {
  if (bytes.length > MAX_YAML_BYTES) return 'unreadable';
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const document = parseDocument(text, { prettyErrors: false });
    return document.errors.length > 0 ? 'unreadable' : document.toJS({ maxAliasCount });
  } catch {
    // The file is not UTF-8, has too many YAML aliases, or is nested too deep for the parser.
    return 'unreadable';
  }
}
