import { until } from '../e2e/harness.ts';
import { type Received, WebhookReceiver } from '../helpers/webhook-receiver.ts';
import { type AnyGitea, type GiteaAnswer, GiteaPeople } from './any-gitea.ts';

/** One request and its answer, or one delivery. Values that differ from run to run are replaced. */
export interface Exchange {
  readonly name: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Far more than a delivery takes on a busy machine. */
const WAIT_MS = 30_000;

const SAID = ['location', 'x-total-count', 'www-authenticate'];

/** Talks with a Gitea, and writes down what it says and what it delivers. */
export class Conversation {
  readonly people: GiteaPeople;
  readonly exchanges: Exchange[] = [];
  readonly receiver: WebhookReceiver;
  /** The deliveries that were written down, as they came. */
  readonly heard = new Map<string, Received>();
  readonly #known = new Map<string, string>();

  private constructor(gitea: AnyGitea, receiver: WebhookReceiver) {
    this.people = new GiteaPeople(gitea);
    this.receiver = receiver;
    this.#known.set(gitea.url, '<url>');
    this.#known.set(receiver.url, '<receiver>');
  }

  static async begin(gitea: AnyGitea): Promise<Conversation> {
    return new Conversation(gitea, await new WebhookReceiver().start());
  }

  /** Calls a commit by a name, since not all have the same sha in every run. */
  know(sha: string, name: string): void {
    this.#known.set(sha, `<${name}>`);
  }

  /** Asks, and writes the answer down. */
  async say(name: string, login: string, method: string, path: string, body?: unknown): Promise<GiteaAnswer> {
    return this.#write(name, await this.people.ask(login, method, path, body));
  }

  /** Asks with a token, which may be wrong, or with none. */
  async sayWith(token: string | undefined, name: string, path: string, body?: unknown): Promise<void> {
    this.#write(name, await this.people.askWith(token, body === undefined ? 'GET' : 'POST', path, body));
  }

  /** Asks for a merge until Gitea has computed whether it can be merged. */
  async merge(name: string, login: string, path: string, body: unknown): Promise<void> {
    const ask = () => this.people.ask(login, 'POST', path, body);
    this.#write(name, await this.wait(name, ask, (answer) => answer.body?.message !== 'Please try again later'));
  }

  #write(name: string, answer: GiteaAnswer): GiteaAnswer {
    const headers: Record<string, string> = {};
    for (const header of SAID) {
      const value = answer.headers.get(header);
      if (value !== null) headers[header] = String(this.#plain(value));
    }
    const more = Object.keys(headers).length === 0 ? {} : { headers };
    this.exchanges.push({ name, status: answer.status, ...more, body: this.#plain(answer.body) ?? null });
    return answer;
  }

  /** Pushes, and writes down why it was refused, as git shows it. */
  async push(name: string, login: string, fullName: string, refspec: string): Promise<void> {
    const { gitea } = this.people;
    const refusal = await this.people.push(login, fullName, gitea.gitDirOf(fullName), refspec).then(
      () => [],
      (error: Error) =>
        [...error.message.matchAll(/remote: error: (.*\S)|! \[(.*)\]|(\(.*\))$|returned error: (\d+)/gm)].map(
          ([, ...words]) => words.join(''),
        ),
    );
    this.exchanges.push({ name, body: this.#plain(refusal) });
  }

  /** Asks until the answer is right, since Gitea does some things later. */
  wait<T>(what: string, ask: () => Promise<T>, isRight: (answer: T) => boolean): Promise<T> {
    return until(what, WAIT_MS, async () => {
      const answer = await ask();
      return isRight(answer) ? answer : undefined;
    });
  }

  /** Waits for a delivery that was not written down yet, and writes it down. */
  async hear(type: string, action?: string): Promise<void> {
    const name = [type, action].filter((part) => part !== undefined).join(' ');
    const isIt = (received: Received) =>
      received.headers['x-gitea-event-type'] === type && JSON.parse(received.body).action === action;
    const found = await this.wait(
      `a delivery of ${name}`,
      async () =>
        this.receiver.received.find((received) => isIt(received) && ![...this.heard.values()].includes(received)),
      (received) => received !== undefined,
    );
    if (found === undefined) return;
    const count = [...this.heard.keys()].filter((key) => key.split(' #')[0] === name).length;
    this.heard.set(count === 0 ? name : `${name} #${count + 1}`, found);
    const {
      host: _,
      'content-length': __,
      'user-agent': ___,
      connection: ____,
      accept: _____,
      ...headers
    } = found.headers;
    const shown = Object.entries(headers).filter(([key]) => key.startsWith('x-') || key === 'content-type');
    this.exchanges.push({
      name: `delivery: ${name}`,
      headers: this.#plain(Object.fromEntries(shown)) as Record<string, string>,
      body: this.#plain(withoutTrial(JSON.parse(found.body))),
    });
  }

  close(): Promise<void> {
    return this.receiver.close();
  }

  #plain(value: unknown, depth = 0): unknown {
    if (typeof value === 'string') return this.#plainText(value);
    if (Array.isArray(value)) return value.map((item) => this.#plain(item, depth + 1));
    if (typeof value !== 'object' || value === null) return value;
    const fields = value as Readonly<Record<string, unknown>>;
    if (depth > 0 && 'clone_url' in fields) return `<repository ${fields['full_name']}>`;
    if (depth > 0 && 'username' in fields && 'login' in fields) return `<user ${fields['login']}>`;
    const known = isSettled(fields) ? { ...fields, mergeable: '<later>' } : fields;
    const entries = Object.entries(known).map(([key, item]) => [
      key,
      isId(key, item) ? '<id>' : this.#plain(key === 'events' ? sorted(item) : item, depth + 1),
    ]);
    return Object.fromEntries(entries);
  }

  #plainText(value: string): string {
    let text = value;
    for (const [known, name] of this.#known) text = text.replaceAll(known, name);
    return text
      .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)/g, '<time>')
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<uuid>')
      .replaceAll(/\b[0-9a-f]{64}\b/g, '<sha256>')
      .replaceAll(/\b[0-9a-f]{40}\b/g, '<sha>')
      .replaceAll(/(id: )\d+/g, '$1<id>')
      .replaceAll(/(issuecomment-)\d+/g, '$1<id>');
  }
}

/** Whether it can be merged is known at some time after the event. */
function withoutTrial(payload: { readonly pull_request?: object }): unknown {
  const { pull_request: pr } = payload;
  return pr === undefined ? payload : { ...payload, pull_request: { ...pr, mergeable: '<later>' } };
}

/** Of a closed pull request Gitea says anything, depending on when it last looked. */
function isSettled(fields: Readonly<Record<string, unknown>>): boolean {
  return 'mergeable' in fields && fields['state'] === 'closed';
}

/** Gitea lists the events of a hook in any order. */
function sorted(events: unknown): unknown {
  return Array.isArray(events) ? events.toSorted() : events;
}

function isId(key: string, value: unknown): boolean {
  return typeof value === 'number' && /(?:^|_)id$/.test(key) && value > 0;
}
