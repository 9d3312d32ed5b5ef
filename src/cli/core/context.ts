import { type CallOptions, Client } from './client.ts';
import { usageError } from './exit.ts';
import { checkFields, type KnownFields, pickFields } from './json-fields.ts';
import { type AnswerOf, type BodyOf, fieldsOf, type OperationName } from './operations.ts';
import { findAddress } from './server-address.ts';
import { clean, say, write } from './terminal.ts';
import { findToken, type Token } from './token-source.ts';

export interface GlobalOptions {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly json?: true;
  /** Names between commas. */
  readonly jsonFields?: string;
  /** Set on the commands that have this option. */
  readonly org?: string;
}

export interface Context {
  readonly client: Client;
  readonly isJson: boolean;
  token(): Token;
  call<Name extends OperationName>(name: Name, body: BodyOf<Name>, options?: CallOptions): Promise<AnswerOf<Name>>;
  /** Calls an operation whose reply is shown, and refuses before it the names of fields that no reply of it has. */
  act<Name extends OperationName>(name: Name, body: BodyOf<Name>, options?: CallOptions): Promise<AnswerOf<Name>>;
  /** Of an item of a list that is printed item by item: the fields that --json names, or all. */
  pick(item: unknown, list: OperationName): unknown;
  /** Prints the server's reply: as JSON with --json, else in words. */
  show(reply: unknown, inWords: () => string): void;
}

// SPEC A23
export function createContext(options: GlobalOptions): Context {
  let found: Token | undefined;
  const token = (): Token => {
    found ??= findToken({ url, tokenFile: options.tokenFile, environment: process.env });
    return found;
  };
  const url = findAddress(options.url, process.env);
  const names = options.jsonFields;
  const fields: KnownFields[] = [];
  let isChecked = false;
  const client = new Client({ url, token, organization: parseOrg(options.org) });
  const context: Context = {
    client,
    isJson: options.json === true,
    token,
    act: (name, body, callOptions) => {
      checkFields(names, fieldsOf(name));
      isChecked = true;
      return context.call(name, body, callOptions);
    },
    call: async (name, body, callOptions) => {
      try {
        fields.push(fieldsOf(name));
        return await client.call(name, body, callOptions);
      } catch (error) {
        // Loaded late: most calls are not refused.
        const { explainRefusal } = await import('./proposals.ts');
        throw await explainRefusal(client, error, body);
      }
    },
    pick: (item, list) => pickFields(item, names, [{ own: fieldsOf(list).items, items: '' }]),
    show: (reply, inWords) => {
      const picked = () => pickFields(reply, names, isChecked ? undefined : fields);
      write(options.json ? JSON.stringify(picked(), null, 2) : inWords());
      const { note } = reply as { readonly note?: string };
      if (note !== undefined) say(`sluice: ${clean(note)}`);
    },
  };
  return context;
}

/** The slug goes into a header, so other characters are refused here. */
function parseOrg(slug: string | undefined): string | undefined {
  if (slug !== undefined && !/^[\w.-]+$/.test(slug))
    throw usageError('--org is the slug of an organization, such as acme.');
  return slug;
}
