// Makes the calls of the real uploader in order: look up, ask for an address, put the bundle, send telemetry.
import { bundle, field, message, metaJson, type TarFile } from './bundle.ts';

export interface UploaderOptions {
  /** Without a slash at the end, as the real one requires; /trunk is the other mount. */
  readonly base: string;
  readonly token: string | undefined;
  readonly org: string;
  readonly repo: { readonly host: string; readonly owner: string; readonly name: string };
}

export interface FailingTest {
  readonly id: string;
  readonly name: string;
  readonly parentName: string;
  readonly className: string | null;
  readonly file: string | null;
  readonly variant: string | null;
}

export interface CreatedUpload {
  readonly id: string;
  readonly idV2: string;
  readonly url: string;
  readonly key: string;
}

/** The real uploader retries these up to five times, for a minute. */
export function isRetried(status: number): boolean {
  if (status >= 500) return ![501, 505, 506, 507, 508, 510, 511].includes(status);
  return [408, 409, 423, 425, 429].includes(status);
}

export class Uploader {
  readonly #options: UploaderOptions;

  constructor(options: UploaderOptions) {
    this.#options = options;
  }

  lookUp(tests: readonly FailingTest[]): Promise<Response> {
    const testIdentifiers = tests.map((test) => ({
      ...test,
      timestamp_millis: 0,
      is_quarantined: false,
      failure_message: 'expected 1',
    }));
    return this.#post('/metrics/getQuarantineConfig', { ...this.#common(), testIdentifiers });
  }

  create(): Promise<Response> {
    const more = { clientVersion: CLIENT_VERSION, externalId: null, testCollectionShortId: null };
    return this.#post('/metrics/createBundleUpload', { ...this.#common(), ...more });
  }

  /** Without a token: the address is the permission. */
  put(url: string, body: Uint8Array): Promise<Response> {
    return fetch(url, {
      method: 'PUT',
      headers: { 'content-type': 'application/octet-stream', 'content-length': String(body.length) },
      body: body as Uint8Array<ArrayBuffer>,
    });
  }

  tell(isFailed: boolean): Promise<Response> {
    const { repo } = this.#options;
    const body = message(
      field(1, message(field(2, 13))),
      field(2, message(field(1, repo.host), field(2, repo.owner), field(3, repo.name))),
      field(6, isFailed ? 1 : 0),
      field(8, 1),
    );
    return fetch(`${this.#options.base}/v1/flakytests-cli/upload-metrics`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-protobuf', ...this.#credentials() },
      body: body as Uint8Array<ArrayBuffer>,
    });
  }

  /** The bundle of a run, containing the ids of its address. */
  pack(created: CreatedUpload, files: readonly TarFile[], meta: Readonly<Record<string, unknown>> = {}): Buffer {
    const { org, repo } = this.#options;
    const ids = { bundle_upload_id: created.id, bundle_upload_id_v2: created.idV2, org };
    const parsed = JSON.parse(metaJson({ ...ids, ...meta })) as { repo: object };
    return bundle([
      { path: 'meta.json', content: JSON.stringify({ ...parsed, repo: { ...parsed.repo, repo } }) },
      ...files,
    ]);
  }

  /** A whole run. Returns the statuses in the order of the calls. */
  async run(files: readonly TarFile[], failing: readonly FailingTest[] = []): Promise<readonly number[]> {
    const lookup = failing.length === 0 ? [] : [(await this.lookUp(failing)).status];
    const answer = await this.create();
    const created = (await answer.json()) as CreatedUpload;
    const put = await this.put(created.url, this.pack(created, files));
    const told = await this.tell(false);
    return [...lookup, answer.status, put.status, told.status];
  }

  #common() {
    const { org, repo } = this.#options;
    return { repo, orgUrlSlug: org, remoteUrls: [`https://${repo.host}/${repo.owner}/${repo.name}.git`] };
  }

  #credentials(): Record<string, string> {
    const { token } = this.#options;
    return token === undefined ? {} : { 'x-api-token': token };
  }

  #post(path: string, body: unknown): Promise<Response> {
    return fetch(`${this.#options.base}/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...this.#credentials() },
      body: JSON.stringify(body),
    });
  }
}

const CLIENT_VERSION = 'trunk-analytics-cli cargo=0.0.0 git=fcbc1bd2 rustc=1.80';
