import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aRepository, storeOrganization } from '../../../test/helpers/store-rows.ts';
import { ManualClock } from '../../../test/worlds/shell/manual-clock.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';
import type { IssuedUploadUrl } from '../core/app.ts';
import { newUpload } from './receive-upload.ts';
import { UnusedUploads } from './unused-uploads.ts';

const HOUR = 3_600_000;

class Place {
  readonly clock = new ManualClock();
  readonly store = createMemoryStore();
  readonly warnings: object[] = [];
  readonly #log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (facts: object) => void this.warnings.push(facts),
    error: () => undefined,
  };
  readonly unused = new UnusedUploads({ store: this.store, clock: this.clock, log: this.#log });

  async giveOut(of: Partial<IssuedUploadUrl> = {}): Promise<string> {
    const { id: organizationId } = await storeOrganization(this.store);
    const { id: repositoryId } = await this.store.repositories.save(aRepository({ organizationId }));
    const at = this.clock.now();
    const upload = newUpload({ repositoryId, kind: 'bundle', fields: null, at, clientVersion: undefined });
    await this.store.uploads.create(upload, at);
    const given = { uploadId: upload.id, expiresAt: at + HOUR, organization: 'acme', address: 'http://sluice.dev' };
    this.unused.watch({ ...given, ...of });
    return upload.id;
  }

  async use(id: string): Promise<void> {
    await this.store.uploads.accept(id, { bodyId: 'b', files: [], sizeBytes: 0, at: this.clock.now() });
  }
}

describe('an upload address that was given out', () => {
  it('and never used is a warning when its hour is over, once for an organization and an address [U49]', async (t) => {
    const place = new Place();
    const rounds = place.unused.createRounds();
    rounds.start();
    t.after(() => rounds.stop());
    const first = await place.giveOut();
    await place.giveOut();
    await place.clock.pass(HOUR - 1);
    assert.deepEqual(place.warnings, []);
    await place.clock.pass(15 * 60_000);
    const about = { organization: 'acme', address: 'http://sluice.dev', uploadId: first };
    assert.deepEqual(place.warnings, [about]);
    await place.giveOut();
    await place.giveOut({ organization: 'other' });
    await place.giveOut({ address: 'http://sluice.acme.dev' });
    await place.clock.pass(2 * HOUR);
    assert.equal(place.warnings.length, 3);
  });

  it('and used is no warning, and the next unused one after it is a warning again [U49]', async () => {
    const place = new Place();
    await place.giveOut();
    const used = await place.giveOut();
    await place.use(used);
    await place.clock.pass(2 * HOUR);
    await place.unused.warnOfUnused();
    assert.equal(place.warnings.length, 1);
    await place.giveOut();
    await place.clock.pass(2 * HOUR);
    await place.unused.warnOfUnused();
    assert.equal(place.warnings.length, 2);
  });
});
