import type { App } from '../../app/core/app.ts';
import { createDiskMeasure } from '../../app/upkeep/readiness.ts';
import type { Gauge } from '../../lib/exposition.ts';
import { succeeds } from '../../lib/succeeds.ts';

interface Health {
  /** Throws as /readyz answers. */
  readonly checkReady: () => Promise<void>;
  readonly dataFolder: string | undefined;
}

type Describe = () => Promise<readonly Gauge[]>;

/** As for the counts of requests: in production an app has one server. */
const known = new WeakMap<App, Describe>();

// SPEC M28
export function keepHealth(app: App, { checkReady, dataFolder }: Health): void {
  const measureDisk = dataFolder === undefined ? undefined : createDiskMeasure(app.clock, dataFolder);
  known.set(app, async () => {
    const isReady = await succeeds(checkReady());
    const ready = one('sluice_ready', 'Whether /readyz says that the server is ready.', Number(isReady));
    // The disk of a hanging folder has no numbers.
    const disk = await measureDisk?.().catch(() => undefined);
    if (disk === undefined) return [ready];
    return [
      ready,
      one('sluice_data_disk_free_bytes', 'Free room on the disk of the data folder.', disk.freeBytes),
      one('sluice_data_disk_size_bytes', 'Size of the disk of the data folder.', disk.sizeBytes),
    ];
  });
}

export async function describeHealth(app: App): Promise<readonly Gauge[]> {
  return (await known.get(app)?.()) ?? [];
}

function one(name: string, help: string, value: number): Gauge {
  return { type: 'gauge', name, help, samples: [{ labels: {}, value }] };
}
